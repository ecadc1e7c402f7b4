"""Tables of discover, extend and review."""

from __future__ import annotations

from masker.report.analysis_tables import analysis_lines

FIGURES = {"accuracy": 0.5, "nmi": 0.6, "ari": 0.7}
GROUPED = {"classes": 5, "masker": FIGURES, "k_means": {**FIGURES, "accuracy": 0.4, "ari": 0.8}}
TOLD = {
    "accuracy_old": 0.9, "among_old": 0.95, "accuracy_new": None, "rejected_known": 0.06, "rejected_old": 0.05,
    "rejected_new": 0.04,
}  # fmt: skip
MADE = {**TOLD, "accuracy_new": 0.8}
EXTENDED = {"old_classes": 3, "new_classes": 1, "processor_seconds": 2.0, "before": TOLD, "extended": MADE}
LEARNT = {"accuracy": 0.5, "auroc": 0.9}
REVIEWED = {"before": LEARNT, "budgets": {"50": {"review": {**LEARNT, "accuracy": 0.7}, "random": LEARNT}}}
PLACE = {"train": "SNIPS 25 %", "model": "minilm", "seed": 0}


def lines_of(*rows, comparisons=()):
    systems = {part: f"the title of {part}" for part in ("discover", "extend", "review")}
    kept = [{**PLACE, "system": row["part"], **row} for row in rows]
    lines = analysis_lines({"systems": systems, "analysis": kept, "comparisons": list(comparisons)})
    return [" ".join(line.split()) for line in lines]


def test_means_over_seeds_and_the_better_in_bold():
    lines = lines_of(
        {"part": "discover", "groups": 6, **GROUPED}, {"part": "discover", "seed": 1, "groups": 7, **GROUPED},
        {"part": "discover", "train": "ATIS 25 %", "groups": 1, **GROUPED},
    )  # fmt: skip
    assert lines[0].startswith("**The title of discover**: groups that are found / k-means")
    assert "| SNIPS 25 % | 2 | 5 | 6 | **50.0** / 40.0 | 60.0 / 60.0 | 70.0 / **80.0** |" in lines
    assert "| ATIS 25 % | 1 | 5 | 1 | **50.0** / 40.0 | 60.0 / 60.0 | 70.0 / **80.0** |" in lines
    assert lines[-1] == "Above k-means: 2 of 6 figures."


def test_two_encoders_are_two_rows():
    row = {"part": "discover", "groups": 6, **GROUPED}
    lines = lines_of(row, {**row, "model": "mpnet"})
    assert sum(line.startswith("| SNIPS 25 % m") for line in lines) == 2


def test_extended_models_and_columns_that_were_not_measured():
    row = {"part": "extend", **EXTENDED, "retrained": MADE}
    expected = "| SNIPS 25 % | 1 | 3 + 1 | 2.0 | 90.0 / 90.0 / 90.0 | 95.0 / 95.0 | 80.0 / 80.0 | 6.0 / 6.0 / 6.0 |"
    lines = lines_of(row)
    assert f"{expected} 5.0 / 5.0 | 4.0 / 4.0 |" in lines and not any("foreign" in line for line in lines)
    foreign = {**row, "extended": {**MADE, "rejected_foreign": 0.25}}
    lines = lines_of(foreign)
    assert f"{expected} 5.0 / 5.0 | 4.0 / 4.0 | – / 25.0 / – |" in lines
    assert any("foreign rejected, %" in line for line in lines)


def test_budgets_below_the_model_as_it_was():
    lines = lines_of({"part": "review", **REVIEWED})
    assert lines[-2:] == ["| SNIPS 25 % | 1 | 0 | 50.0 | 90.0 |", "| | | 50 | 70.0 / 50.0 | 90.0 / 90.0 |"]


def test_comparisons_stand_below_the_table_of_their_system():
    outcome = {"cells": 8, "wins": 7, "difference": 2.5, "units": 8, "p_value": 0.01, "smallest_p": 0.008}
    row = {"system": "discover", "ours": "masker", "theirs": "k_means", "metric": "nmi", **outcome}
    lines = lines_of({"part": "discover", "groups": 6, **GROUPED}, {"part": "review", **REVIEWED}, comparisons=[row])
    sentence = "- **groups against k-means, NMI:** better in 7 of 8 cells, +2.5 points on average over 8 models"
    place = lines.index(f"{sentence}; p = 0.010 (sign-flip test over runs): groups better.")
    assert place < lines.index("**The title of review**: labels for chosen / random texts.")
