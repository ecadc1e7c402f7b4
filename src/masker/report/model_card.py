"""The model card: ``README.md`` in the model folder, as the model hub reads it."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from masker.analysis.report_data import Report
from masker.files import write_text
from masker.report.markdown import markdown_table
from masker.report.plain_text import markdown_text, plain_text

CARD = "README.md"
#: A card without this line is not ours, and stays as it is.
MARK = "<!-- Written by masker, which replaces this file unless this line is removed. -->"
#: Classes that are listed.
MOST_LABELS = 200
#: Titles of the figures beside accuracy.
OTHER_FIGURES = {"macro_f1": "macro F1", "ece": "calibration error"}
_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


def write_model_card(report: Report, folder: Path) -> Path | None:
    """Write the card into a model folder; ``None`` if there is one that somebody else wrote."""
    path = folder / CARD
    if path.is_file() and MARK not in path.read_text(encoding="utf-8", errors="replace"):
        return None
    write_text(path, model_card(report))
    return path


def model_card(report: Report) -> str:
    """The card as Markdown, with metadata for the hub."""
    from huggingface_hub import ModelCard

    body = "\n".join(
        [
            MARK,
            "",
            f"# {markdown_text(report.model.name)}",
            "",
            " ".join(markdown_text(sentence) for sentence in report.conclusion),
            "",
            *_use(report),
            *_data(report),
            *_figures(report),
            *_calibration(report),
            *_limits(report),
            *_training(report),
        ]
    )
    return str(ModelCard(f"---\n{_metadata(report).to_yaml()}\n---\n\n{body}"))


def _metadata(report: Report) -> Any:
    from huggingface_hub import EvalResult, ModelCardData

    facts, evaluation = report.model, report.evaluation or {}
    results = [
        EvalResult(
            task_type="text-classification",
            dataset_type="text",
            dataset_name=plain_text(report.known.name),
            metric_type=name,
            metric_value=round(figure["value"], 4),
        )
        for name, figure in evaluation.get("classification", {}).items()
        if report.known is not None
    ]
    backbone = str(report.settings.get("model", {}).get("backbone", ""))
    on_hub = _HUB_ID.fullmatch(backbone) is not None and not Path(backbone).exists()
    return ModelCardData(
        library_name="transformers",
        pipeline_tag="text-classification",
        tags=["masker", "text-classification", *(["out-of-distribution-detection"] if facts.classes else [])],
        base_model=backbone if on_hub else None,
        model_name=plain_text(facts.name) or "model",
        eval_results=results or None,
    )


def _use(report: Report) -> list[str]:
    lines = ["## Use", "", "```sh", "masker predict MODEL new.csv   # label, confidence, p-value, in or out", "```", ""]
    if report.model.classes and not report.model.pairs:
        lines += [
            "Plain transformers opens it too, without the reject option and the calibration:",
            "",
            "```python",
            'pipeline("text-classification", "MODEL", truncation=True)',
            "```",
            "",
        ]
    return lines


def _data(report: Report) -> list[str]:
    facts = report.model
    count = "" if facts.documents is None else f"{facts.documents} "
    kind = "pairs of texts" if facts.pairs else "texts"
    source = f" of {markdown_text(facts.data)}" if facts.data else ""
    sha256 = report.provenance.get("data_sha256")
    lines = ["## Data and labels", "", f"Trained on {count}{kind}{source}{f' (sha256 `{sha256}`)' if sha256 else ''}."]
    if not facts.classes:
        return [*lines, "It predicts a number.", ""]
    named = ", ".join(markdown_text(name) for name in facts.classes[:MOST_LABELS])
    more = f" and {len(facts.classes) - MOST_LABELS} more" if len(facts.classes) > MOST_LABELS else ""
    return [*lines, f"It has {len(facts.classes)} classes: {named}{more}.", ""]


def _figures(report: Report) -> list[str]:
    evaluation, known = report.evaluation, report.known
    if evaluation is None:
        return ["## Figures", "", "It has not been measured.", ""]
    if "regression" in evaluation:
        rows = [[name, *_three(figure)] for name, figure in evaluation["regression"].items()]
        measured = f"{evaluation['documents']} texts of {markdown_text(evaluation['test'])}"
    else:
        assert known is not None
        others = {title: evaluation["classification"][name] for name, title in OTHER_FIGURES.items()}
        # Where every answer is right, no resample differs; that is no narrow interval.
        figures = {"accuracy": known.right, **{title: one for title, one in others.items() if one["low"] < one["high"]}}
        if not known.held_out:
            figures["false alarms"] = evaluation["false_alarms"]["realised"]
        for name, found in evaluation["ood"].items():
            figures[f"AUROC, {markdown_text(name)}"] = found["auroc"]
        rows = [[name, *_three(figure)] for name, figure in figures.items()]
        measured = f"{known.documents} texts of {markdown_text(known.name)}"
        if known.held_out:
            measured = f"{known.documents} held-out documents, each judged by a network that was not trained on it"
            if not known.separate:
                measured = f"{known.documents} held-out documents, which also helped to choose the model"
    table = markdown_table(["figure", "value", "95 % interval"], rows)
    return ["## Figures", "", f"Measured on {measured}.", "", *table, ""]


def _three(figure: dict[str, float]) -> list[str]:
    return [f"{figure['value']:.3f}", f"{figure['low']:.3f} – {figure['high']:.3f}"]


def _calibration(report: Report) -> list[str]:
    facts = report.model
    if facts.score is None or facts.threshold is None:
        return []
    if not math.isfinite(facts.threshold):
        rule = f"Its score is `{facts.score}`. No text was held out, so nothing is rejected until"
        return ["## Calibration", "", f"{rule} `masker calibrate MODEL NEW_TEXTS` sets a threshold.", ""]
    promise = "The threshold is that of the published rule; no rate is promised."
    if facts.promised is not None:
        sure = "on average" if facts.confidence is None else f"with {100 * facts.confidence:.6g} % confidence"
        promise = f"At most {100 * facts.promised:.3g} % of texts that belong to a class are rejected, {sure}."
    rule = f"A text is out-of-distribution if its score `{facts.score}` exceeds {facts.threshold:.4g}."
    return [
        "## Calibration",
        "",
        f"{rule} {promise} Confidence is computed at temperature {facts.temperature:.3g}.",
        "",
    ]


def _limits(report: Report) -> list[str]:
    facts, evaluation = report.model, report.evaluation or {}
    limits = [f"It reads the first {facts.max_length} tokens of a text, unless it was trained with windows."]
    if facts.classes:
        limits.append(
            "The rate of false alarms holds for texts like those that calibrated it; recalibrate it on others."
        )
        if not evaluation.get("ood"):
            limits.append("How much foreign text it notices was not measured.")
    if report.known is not None:
        few = [row.name for row in report.known.classes if row.documents < 5]
        missing = len(facts.classes) - len(report.known.classes)
        if few or missing:
            limits.append(f"{len(few) + missing} of its classes were measured on fewer than five texts, or on none.")
    limits.append("It was not examined for unfair treatment of people or groups.")
    return ["## Limits", "", *(f"- {limit}" for limit in limits), ""]


def _training(report: Report) -> list[str]:
    facts = report.model
    versions = ", ".join(f"{name} {version}" for name, version in report.provenance.get("versions", {}).items())
    lines = [f"- {markdown_text(subject)}: {markdown_text(decision)}" for subject, decision in report.decisions.items()]
    seed = report.provenance.get("seed")
    return [
        "## Training",
        "",
        f"Method {markdown_text(facts.method)} on {markdown_text(facts.backbone)}, {facts.created}"
        f"{'' if seed is None else f', seed {seed}'}{f', {versions}' if versions else ''}.",
        "",
        *lines,
        "",
    ]
