"""Tables and summaries on stdout."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from masker.keywords import KeywordSet
from masker.presets import STILL_DIFFERENT

#: Headings of the detection figures, in the order of the paper's tables.
DETECTION_COLUMNS = {
    "auroc": "AUROC ↑", "eer": "EER ↓", "detection_accuracy": "det. acc. ↑", "tnr_at_tpr80": "TNR@TPR80 ↑",
    "aupr": "AUPR ↑", "fpr_at_tpr95": "FPR@TPR95 ↓",
}  # fmt: skip
#: And those of the open-set figures.
OPEN_SET_COLUMNS = {
    "accuracy": "accuracy ↑", "macro_f1": "macro F1 ↑", "f1_known": "F1 known ↑", "f1_unknown": "F1 unknown ↑",
}  # fmt: skip


class _PipedConsole(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # the command line decides what to do; rich would end with code 1


def console(least: int = 120) -> Console:
    """A console on stdout; at least so many columns wide if that is a file or a pipe, so tables are not cut."""
    width = shutil.get_terminal_size().columns
    output = _PipedConsole(highlight=False)
    return output if output.is_terminal else _PipedConsole(highlight=False, width=max(width, least))


def figure_table(left: Sequence[str], right: Sequence[str], title: str | None = None) -> Table:
    """A table without rows; its columns are those aligned left, then those aligned right."""
    table = Table(title=title)
    for heading in left:
        table.add_column(heading)
    for heading in right:
        table.add_column(heading, justify="right")
    return table


def interval_table(figures: Mapping[str, Mapping[str, float]], digits: int, title: str | None = None) -> Table:
    """Figures with their 95 % intervals, one row each."""
    table = figure_table(["figure"], ["value", "95 % interval"], title)
    for name, figure in figures.items():
        value, low, high = (f"{figure[key]:.{digits}f}" for key in ("value", "low", "high"))
        table.add_row(name, value, f"{low} – {high}")
    return table


def print_training(summary: Any, preset: str | None = None) -> None:
    """Print the result of a training run with this preset, and a command to try it."""
    model = summary.model
    out = console()
    measured = [f"validation {name} {value:.3f}" for name, value in model.validation.items()]
    measured = measured or ["none held out"]
    out.print(f"trained on {summary.documents} documents in {summary.seconds:.0f} s; {', '.join(measured)}")
    print_decisions(model.provenance.get("decisions", {}), preset)
    if summary.skipped:
        out.print(f"skipped {summary.skipped} rows without text or label")
    if model.keywords:  # there is none where any word may be one
        shown = ", ".join(model.keywords.words[:12])
        out.print(f"{len(model.keywords)} keywords ({model.keywords.source}): {shown} …", markup=False)
    if model.detector is not None:
        report = model.describe_detector()
        if "labels" in report:
            out.print(label_promise(report["labels"]), soft_wrap=True)
        out.print(_promise(report), soft_wrap=True)
        if np.isfinite(model.detector.calibration.threshold):
            out.print(_rule({**report, "threshold": model.detector.calibration.threshold}), soft_wrap=True)
    if summary.trade_off is not None:
        _print_trade_off(summary.trade_off)
    out.print(f"model: {summary.folder}", soft_wrap=True, markup=False)
    out.print(f"try:   echo 'some text' | masker predict {summary.folder} -", soft_wrap=True, markup=False)


def print_decisions(decisions: Mapping[str, str], preset: str | None = None) -> None:
    """Print what was decided for the user, a line each, and in what a preset still differs from the paper."""
    out = console()
    decisions = decisions if preset is None else {**decisions, "preset": f"{preset}: as in the paper, except:"}
    for subject, decision in decisions.items():
        out.print(f"  {subject + ':':11} {decision}", soft_wrap=True, markup=False)
    for difference in STILL_DIFFERENT if preset is not None else ():
        out.print(f"  {'':11} - {difference}", soft_wrap=True, markup=False)


def print_evaluation(report: dict[str, Any]) -> None:
    """Print a table for the test set and two for the out-of-distribution sets: their scores, and the decisions."""
    if "label_sets" in report:
        print_label_sets(report)
        return
    out = console()
    rows = dict(report["regression" if "regression" in report else "classification"])
    if "rejected" in report:
        alarms = report["false_alarms"]
        sure = "" if alarms["confidence"] is None else f" with {100 * alarms['confidence']:.6g} % confidence"
        promise = "" if alarms["promised"] is None else f" (promised {alarms['promised']:.3g}{sure})"
        rows[f"rejected as OOD{promise}"] = alarms["realised"]
        rows |= {f"AURC by {name}": report["selective"][name]["aurc"] for name in ("confidence", "ood_score")}
    out.print(interval_table(rows, 4, escape(f"{report['test']} ({report['documents']} documents)")))
    if not report.get("ood"):
        return
    out.print(detection_table(report["ood"]))
    title = "decisions on test and OOD set together, OOD as one more class (%, with 95 % interval)"
    decisions = figure_table(["OOD set"], list(OPEN_SET_COLUMNS.values()), title)
    for name, figures in report["ood"].items():
        decisions.add_row(escape(name), *(_percent(figures["open_set"][key]) for key in OPEN_SET_COLUMNS))
    out.print(decisions)


def print_label_sets(report: dict[str, Any]) -> None:
    """Print the figures of a model of several labels, and those of each label."""
    out, missed = console(), report["missed"]
    promise = "" if missed["promised"] is None else f" (promised {missed['promised']:.3g} on average)"
    rows = dict(report["label_sets"])
    rows[f"missed_share{promise}"] = rows.pop("missed_share")
    rows |= {f"{name} at even odds": report["at_even_odds"][name] for name in ("micro_f1", "macro_f1", "missed_share")}
    alarms = report["false_alarms"]
    promise = "" if alarms["promised"] is None else f" (promised {alarms['promised']:.3g})"
    rows[f"rejected as OOD{promise}"] = alarms["realised"]
    out.print(interval_table(rows, 4, escape(f"{report['test']} ({report['documents']} documents)")))
    table = figure_table(["label"], ["texts", "given", "precision", "recall", "F1", "from confidence"], "labels")
    for row in sorted(report["by_label"], key=lambda row: (-row["documents"], row["label"])):
        figures = ["–" if row[key] is None else f"{row[key]:.3f}" for key in ("precision", "recall", "f1", "threshold")]
        table.add_row(escape(row["label"]), str(row["documents"]), str(row["given"]), *figures)
    out.print(table)
    if report["ood"]:
        out.print(detection_table(report["ood"]))


def label_promise(labels: dict[str, Any]) -> str:
    """One line about which labels are given, and what that promises."""
    if labels["promised"] is None:
        return "a label is given at even odds; no text was held out, so nothing is promised about missed labels"
    own = sum(labels["by_label"])
    which = f" ({own} of {len(labels['by_label'])} labels keep that on their own, the others together)" if own else ""
    return (
        f"misses at most {100 * labels['promised']:.3g} % of a text's labels on average{which}; "
        f"{labels['held_out']} held-out texts have labels"
    )


def detection_table(sets: Mapping[str, dict[str, Any]]) -> Table:
    """How well each out-of-distribution set is told apart."""
    title = "out-of-distribution detection (%, with 95 % interval)"
    table = figure_table(["OOD set"], ["rows", "rejected", *DETECTION_COLUMNS.values()], title)
    for name, figures in sets.items():
        cells = [_percent(figures[key]) for key in DETECTION_COLUMNS]
        table.add_row(escape(name), str(figures["documents"]), f"{100 * figures['rejected']:.1f}", *cells)
    return table


def print_calibration(report: dict[str, Any]) -> None:
    """Print the result of a calibration."""
    out = console()
    out.print(f"calibrated on {report['documents']} documents of {report['data']}", soft_wrap=True, markup=False)
    if "labels" in report:
        out.print(label_promise(report["labels"]), soft_wrap=True)
    out.print(_promise(report), soft_wrap=True)
    out.print(_rule(report), soft_wrap=True)
    kept = "" if report["labelled"] else ", unchanged because the documents have no labels"
    out.print(f"confidence temperature {report['temperature']:.3g}{kept}")
    if report["trade_off"] is not None:
        _print_trade_off(report["trade_off"])
    out.print(f"model: {report['model']}", soft_wrap=True, markup=False)


def print_extension(report: dict[str, Any]) -> None:
    """Print the result of an extension."""
    out = console()
    new = f", {len(report['new_classes'])} of them new" if report["new_classes"] else ""
    many = "1 class" if len(report["added"]) == 1 else f"{len(report['added'])} classes"
    out.print(f"added {report['texts']} texts of {many}{new}, in {report['seconds']:.0f} s; {report['classes']} in all")
    if report["accuracy"] is not None:
        what = "new texts, each judged by a head made without it" if "kept" in report else "held-out texts"
        out.print(f"accuracy {report['accuracy']:.3f} ({what})")
    if "kept" in report:
        out.print(f"{100 * report['kept']:.1f} % of the kept training texts have the same answer as before")
    out.print(_promise(report), soft_wrap=True)
    out.print(_rule(report), soft_wrap=True)
    out.print(f"model: {report['model']}", soft_wrap=True, markup=False)


def _rule(detection: dict[str, Any]) -> str:
    rule = f"a text is out-of-distribution if its ood_score exceeds {detection['threshold']:.4g}"
    own = sum(detection["by_class"])
    if detection.get("apart"):
        rule = "a text is out-of-distribution if its ood_score exceeds the threshold of the classes that were trained, "
        rule += "or added, as its predicted class was"
    return rule + (f", or the threshold of its predicted class ({own} classes have their own)" if own else "")


def _promise(detection: dict[str, Any]) -> str:
    offsets = (detection["auto"] or {}).get("offsets", {}) if detection["score"] == "auto" else {}
    leads = " and ".join(name for name, offset in offsets.items() if not offset)
    guards = "".join(f", guarded by {name}" for name, offset in offsets.items() if offset)
    made_of = f" ({leads}{guards})" if offsets else ""
    if not detection["held_out"] and None in detection["thresholds"]:
        return (
            f"score {detection['score']}{made_of}; no text was held out, so nothing is rejected: set a threshold with "
            "'masker calibrate MODEL NEW_TEXTS'"
        )
    if detection["promised"] is None:
        return f"score {detection['score']}{made_of}; its threshold was given, so no false-alarm rate is promised"
    of_class, own = " of each predicted class", "a class's"
    if not any(detection["by_class"]):
        of_class, own = "", "this model's"
    if detection["confidence"] is None:
        low, high = (100 * rate for rate in detection["rate_interval"])
        sure = f"on average; {own} own rate lies between {low:.1f} and {high:.1f} % with 90 % probability"
    else:
        sure = f"with {100 * detection['confidence']:.6g} % confidence" + (" each" if of_class else "")
    selected = "" if detection["separate"] else ", which also selected the model, so approximately"
    return (
        f"score {detection['score']}{made_of}; rejects at most {100 * detection['promised']:.3g} % of in-distribution "
        f"texts{of_class} {sure} ({detection['held_out']} held-out texts{selected})"
    )


def _print_trade_off(rows: list[dict[str, Any]]) -> None:
    title = "examples detected at each false-alarm rate (%, with 95 % interval)"
    table = figure_table([], ["false alarms", "threshold", "detected", ""], title)
    for row in rows:
        mark = "chosen" if row["chosen"] else ""
        rate, threshold = f"{100 * row['false_alarm_rate']:.3g}", f"{row['threshold']:.4g}"
        table.add_row(rate, threshold, _percent(row["detected"]), mark)
    console().print(table)


def _percent(figure: dict[str, float]) -> str:
    value, low, high = (100 * figure[key] for key in ("value", "low", "high"))
    return f"{value:.1f}\n[dim]{low:.1f}–{high:.1f}[/]"


def print_keywords(keywords: KeywordSet) -> None:
    """Print the keywords as a ranked table."""
    table = Table(title=f"{len(keywords)} keywords ({keywords.source})")
    table.add_column("rank", justify="right")
    table.add_column("keyword")
    table.add_column("score", justify="right")
    for rank, keyword in enumerate(keywords, start=1):
        table.add_row(str(rank), escape(keyword.word), f"{keyword.score:.4g}")
    console().print(table)
