"""Makes the pictures of docs/threshold.md and docs/concepts.md.

    make demo
    python tools/threshold_pictures.py runs/demo    # judges the demonstration's texts, writes results/threshold.json
    python tools/threshold_pictures.py              # draws from that file, and fills in the tables of the pages

The file has scores and decisions, no text of a corpus.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "threshold.json"
FOLDER = ROOT / "docs" / "pictures"
RATES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
SHOWN = (0.01, 0.05, 0.2)
COUNTS = (20, 40, 59, 100, 200, 500, 1000, 2000, 5000)
SENTENCES = (
    "The doctor prescribed an antibiotic for the infection, but the pain and the other symptoms came back.",
    "Since the upgrade Windows crashes whenever I open a file from the Program Manager.",
    "The home team scored twice in the last ten minutes and won the cup final.",
)


def measure(run: Path) -> None:
    """Judge the texts of the demonstration with its MASKER model, and keep what the pictures need."""
    from masker import Model
    from masker.evidence import find_evidence
    from masker.experiments.demo import load_demo_data
    from masker.provenance import provenance

    model, data = Model.open(run / "masker"), load_demo_data()
    judged = {name: model.judge(texts.texts) for name, texts in {"known": data.test, **data.ood}.items()}
    right = np.array(model.labels)[judged["known"].predicted] == np.array(data.test.labels)
    rows = []
    for rate in RATES:
        rule = model.adjusted(false_alarm_rate=rate, confidence=0).require_detector().calibration
        shares = {name: float(rule.rejects(one.scores, one.predicted).mean()) for name, one in judged.items()}
        answered = ~rule.rejects(judged["known"].scores, judged["known"].predicted)
        rows.append(
            {"rate": rate, "threshold": rule.threshold, "rejected": shares, "right": float(right[answered].mean())}
        )
    found = [find_evidence(model, sentence) for sentence in SENTENCES]
    views = [
        {
            "sentence": sentence,
            "keywords": [] if one.keywords is None else [sentence[start:end] for _, start, end in one.keywords.spans],
            "whole": _answer(model.predict([sentence])[0]),
            "masked": None if one.keywords is None else _answer(one.keywords.masked),
            "only": None if one.keywords is None else _answer(one.keywords.only),
        }
        for sentence, one in zip(SENTENCES, found, strict=True)
    ]
    content = {
        "scores": {name: [round(float(score), 3) for score in one.scores] for name, one in judged.items()},
        "highest_probability": {
            name: [round(float(value), 4) for value in one.probabilities.max(axis=1)] for name, one in judged.items()
        },
        "rates": rows,
        "views": views,
        "provenance": provenance(seed=0),
    }
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _answer(prediction: Any) -> dict[str, Any] | None:
    if prediction is None:
        return None
    return {"label": prediction.label, "confidence": prediction.confidence, "is_ood": prediction.is_ood}


def draw(content: dict[str, Any]) -> None:
    """Draw the pictures and fill in the tables."""
    from matplotlib import rc_context

    from masker.report.figures.canvas import STYLE

    FOLDER.mkdir(exist_ok=True)
    with rc_context({**STYLE, "svg.fonttype": "path", "svg.hashsalt": "masker"}):
        for name, canvas in (
            ("histogram", draw_histogram(content)),
            ("trade-off", draw_trade_off(content["rates"])),
            ("held-out", draw_held_out()),
            ("confidence", draw_confidence(content)),
        ):
            canvas.savefig(FOLDER / f"{name}.svg", metadata={"Date": None, "Creator": None})
    fill(ROOT / "docs" / "threshold.md", "rates", rates_table(content["rates"]))
    fill(ROOT / "docs" / "concepts.md", "views", views_table(content["views"]))


def draw_histogram(content: dict[str, Any]) -> Any:
    """Scores of known and foreign texts, with three thresholds."""
    from matplotlib.ticker import FuncFormatter

    from masker.report.figures.canvas import DASHES, legend_above, new_canvas, percent_axis
    from masker.report.theme import LIGHT, set_colour

    canvas = new_canvas(3.6, 6.6)
    axes = canvas.subplots()
    lowest, highest = 0.1, max(max(scores) for scores in content["scores"].values())
    edges = np.geomspace(lowest, highest, 40)  # foreign texts score ten times as high: a plain axis shows them only
    handles = []
    for place, (name, scores) in enumerate(content["scores"].items()):
        shares = np.histogram(np.clip(scores, lowest, highest), edges)[0] / len(scores)
        handles.append(
            axes.stairs(
                shares, edges, fill=place == 0, color=set_colour(place), alpha=0.45 if place == 0 else None,
                linestyle=DASHES[place], linewidth=1.5, label=f"{name} ({len(scores)} texts)",
            )
        )  # fmt: skip
    top = axes.get_ylim()[1]
    for row in content["rates"]:
        if row["rate"] in SHOWN:
            axes.axvline(row["threshold"], color=LIGHT["ink"], linewidth=1.1, linestyle=(0, (4, 2)))
            axes.text(row["threshold"], top, f" {row['rate']:.0%}", va="top", fontsize=8)
    axes.set_xlabel("out-of-distribution score: rejected to the right of a threshold; the first bar holds all below")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda score, place: f"{score:g}"))
    axes.set_ylabel("share of the set (%)")
    percent_axis(axes.yaxis)
    legend_above(canvas, handles)
    return canvas


def draw_trade_off(rows: list[dict[str, Any]]) -> Any:
    """What is rejected at each rate that is asked for."""
    from masker.report.figures.canvas import DASHES, MARKERS, legend_above, new_canvas, percent_axis
    from masker.report.theme import LIGHT, set_colour

    canvas = new_canvas(3.6, 6.6)
    axes = canvas.subplots()
    asked = [row["rate"] for row in rows]
    handles = []
    for place, name in enumerate(rows[0]["rejected"]):
        shares = [row["rejected"][name] for row in rows]
        how = {"color": set_colour(place), "linestyle": DASHES[place], "marker": MARKERS[place], "markersize": 4}
        handles += axes.plot(asked, shares, label=name, **how)
    handles += axes.plot(asked, asked, color=LIGHT["muted"], linewidth=0.8, label="what was asked for")
    axes.set_xscale("log")
    axes.set_xticks(asked, [f"{100 * rate:g}" for rate in asked])
    axes.minorticks_off()
    axes.set_xlabel("false-alarm rate asked for (%)")
    axes.set_ylabel("rejected (%)")
    percent_axis(axes.yaxis)
    legend_above(canvas, handles)
    return canvas


def draw_held_out() -> Any:
    """Where a model's own rate lies, by the number of held-out texts: computed, not measured."""
    from masker.detection.conformal import rate_interval
    from masker.report.figures.canvas import legend_above, new_canvas, percent_axis
    from masker.report.theme import LIGHT, set_colour

    canvas = new_canvas(3.2, 6.6)
    axes = canvas.subplots()
    handles = []
    for place, (confidence, name) in enumerate(((None, "the default: on average"), (0.95, "--confidence 0.95"))):
        low, high = np.array([rate_interval(count, 0.05, confidence) for count in COUNTS]).T
        handles.append(axes.fill_between(COUNTS, low, high, color=set_colour(place), alpha=0.35, label=name))
    handles.append(axes.axhline(0.05, color=LIGHT["ink"], linestyle=(0, (4, 2)), linewidth=1.1, label="asked for: 5 %"))
    axes.set_xscale("log")
    axes.set_xticks(COUNTS, [f"{count:,}" for count in COUNTS])
    axes.minorticks_off()
    axes.set_ylim(0, 0.15)
    axes.set_xlabel("held-out texts that set the threshold")
    axes.set_ylabel("this model's own rate (%),\nin 9 of 10 cases")
    percent_axis(axes.yaxis)
    legend_above(canvas, handles)
    return canvas


def draw_confidence(content: dict[str, Any]) -> Any:
    """Highest probability of known and foreign texts: why confidence is not enough."""
    from masker.report.figures.canvas import DASHES, legend_above, new_canvas, percent_axis
    from masker.report.theme import set_colour

    canvas = new_canvas(3.2, 6.6)
    axes = canvas.subplots()
    edges = np.linspace(0, 1, 21)
    handles = []
    for place, (name, values) in enumerate(content["highest_probability"].items()):
        shares = np.histogram(values, edges)[0] / len(values)
        how = {"color": set_colour(place), "linestyle": DASHES[place], "linewidth": 1.5, "fill": place == 0}
        handles.append(axes.stairs(shares, edges, label=name, alpha=0.45 if place == 0 else None, **how))
    axes.set_xlabel("confidence: probability of the best class")
    axes.set_ylabel("share of the set (%)")
    percent_axis(axes.yaxis)
    legend_above(canvas, handles)
    return canvas


def rates_table(rows: list[dict[str, Any]]) -> str:
    """What each rate costs and catches."""
    names = list(rows[0]["rejected"])
    heads = ["asked for", "known texts rejected", "right among the answered", *(f"{name} caught" for name in names[1:])]
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join(["---:"] * len(heads)) + " |"]
    for row in rows:
        shares = [row["rate"], row["rejected"]["known"], row["right"], *(row["rejected"][name] for name in names[1:])]
        lines.append("| " + " | ".join(f"{100 * share:.3g} %" for share in shares) + " |")
    return "\n".join(lines)


def views_table(views: list[dict[str, Any]]) -> str:
    """The answers to three sentences, whole, without their keywords, and reduced to them."""
    lines = [
        "| sentence (keywords in bold) | whole | keywords masked, x~ | only keywords, x^ |",
        "| --- | --- | --- | --- |",
    ]
    for view in views:
        text = view["sentence"]
        for word in sorted(set(view["keywords"]), key=len, reverse=True):
            text = re.sub(rf"(?<![\w*]){re.escape(word)}(?![\w*])", f"**{word}**", text)
        answers = [view[part] for part in ("whole", "masked", "only")]
        cells = ["–" if one is None else f"{one['label']}, {one['confidence']:.2f}" for one in answers]
        lines.append(f"| {text} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def fill(page: Path, name: str, table: str) -> None:
    """Put a table between its markers in a page."""
    text = page.read_text(encoding="utf-8")
    start, end = f"<!-- table {name} -->", "<!-- end of table -->"
    before, rest = text.split(start)
    page.write_text(f"{before}{start}\n\n{table}\n\n{end}{rest.split(end, 1)[1]}", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    if len(sys.argv) == 2:
        measure(Path(sys.argv[1]))
    draw(json.loads(RESULTS.read_text(encoding="utf-8")))
