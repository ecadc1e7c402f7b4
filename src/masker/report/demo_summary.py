"""What ``masker demo`` prints at the end."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from masker.detection.prediction import Prediction
from masker.experiments.demo import DemoResult
from masker.report.console import DETECTION_COLUMNS, console, figure_table

_COLUMNS = ("auroc", "eer", "detection_accuracy", "tnr_at_tpr80")


def print_demo(result: DemoResult) -> None:
    """Print the support messages, the keywords, the comparison, the three posts, and what to try next."""
    out = console()
    out.print(f"\n[bold]24 support messages[/], trained in {result.support_seconds:.0f} s with nothing set:")
    _print_answers(out, result.support)
    data, masker = result.data, result.models["masker"]
    classes = ", ".join(data.train.class_names)
    out.print(f"\n[bold]{len(data.train)} documents of {len(data.train.class_names)} classes[/]: {classes}")
    if masker.keywords is not None:
        words = ", ".join(masker.keywords.words)
        out.print(f"[bold]{len(masker.keywords)} keywords[/] the vanilla model attends to most: {escape(words)}\n")

    headings = ["accuracy ↑", *(DETECTION_COLUMNS[key] for key in _COLUMNS), "rejected"]
    title = "20 Newsgroups, 25 % of the classes known (all figures in %)"
    table = figure_table(["OOD set", "method, score"], headings, title)
    first, *_, last = result.reports
    for name in data.ood:
        for method, report in result.reports.items():
            figures = report["ood"][name]
            shares = [report["classification"]["accuracy"]["value"], *(figures[key]["value"] for key in _COLUMNS)]
            cells = (f"{100 * share:.1f}" for share in (*shares, figures["rejected"]))
            table.add_row(name if method == first else "", method, *cells, end_section=method == last)
    out.print(table)
    rejected = ", ".join(f"{method} {100 * report['rejected']:.1f} %" for method, report in result.reports.items())
    alarms = next(iter(result.reports.values()))["false_alarms"]
    promise = f"at most {100 * alarms['promised']:.3g} %, {100 * alarms['confidence']:.3g} % sure"
    out.print(f"rejected of the {len(data.test)} known-class test documents (promised: {promise}): {rejected}\n")

    out.print("[bold]Three new posts[/], by their subject:")
    _print_answers(out, result.posts)
    out.print(f"\nDone in {result.seconds / 60:.1f} minutes. Models and figures are in {result.folder}. Try next:")
    out.print(f"  echo 'your own message' | masker predict {result.folder}/support -", soft_wrap=True)
    out.print(f"  masker keywords {result.folder}/masker", soft_wrap=True)
    out.print("  masker train your.csv --output model     (columns text and label)", soft_wrap=True)


def _print_answers(out: Console, answers: Sequence[tuple[str, Prediction]]) -> None:
    for text, prediction in answers:
        colour, verdict = ("red", "none of my classes") if prediction.is_ood else ("green", prediction.label)
        out.print(f"[{colour}]{verdict:24}[/] p-value {prediction.p_value:.3f}  {escape(text)}", soft_wrap=True)
