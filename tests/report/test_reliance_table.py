"""Reliance of several systems: means over seeds, and the paired test."""

from __future__ import annotations

import pytest

from masker.report.reliance_table import reliance_lines


@pytest.mark.parametrize(("width", "apart"), [(0.05, "               Letters"), (0.16, "                  none")])
def test_means_deviations_and_the_paired_test(width, apart):
    """Intervals of MASKER reach up to 0.15 and 0.25, or to 0.26 and 0.36, those of vanilla down to 0.25 and 0.45.

    vanilla 0.3 and 0.5: mean 0.4, deviation sqrt(0.02) = 0.14; MASKER 0.1 and 0.2: 0.15 and 0.07.
    """
    audit = {"keywords": "frequency", "masking": "drop", **{part: {"value": 0.25} for part in ("kept", "lost")}}
    rows = [
        {"train": "Letters", "system": system, "seed": seed, "model": "minilm",
         "audits": [{**audit, "reliance": {"value": value, "low": value - 0.05, "high": value + width}}]}
        for system, seed, value in (("vanilla", 0, 0.3), ("vanilla", 1, 0.5), ("masker", 0, 0.1), ("masker", 1, 0.2))
    ]  # fmt: skip
    comparison = {
        "system": "masker", "baseline": "vanilla", "metric": "reliance", "keywords": "frequency", "masking": "drop",
        "cells": 2, "wins": 2, "difference": 0.25, "units": 2, "p_value": 0.5, "smallest_p": 0.5,
    }  # fmt: skip
    summary = {"systems": {"vanilla": "vanilla", "masker": "MASKER"}, "analysis": rows, "comparisons": [comparison]}
    lines = reliance_lines(summary)
    row = next(line for line in lines if line.startswith("| Letters"))
    assert [cell.strip() for cell in row.split("|")][3:8] == [
        "left out", "0.40 ± 0.14", "0.15 ± 0.07", "0.25 ± 0.00", "0.25 ± 0.00",
    ]  # fmt: skip
    row = next(line for line in lines if line.startswith("| MASKER minus vanilla"))
    assert "too few runs to show" in row and row.endswith(f"|     -0.250 |                 2 of 2 | {apart} |")
    assert reliance_lines({**summary, "comparisons": []}) == lines[: lines.index("", 2)]


def test_a_system_without_a_figure_has_a_dash():
    audit = {
        "keywords": "training",
        "masking": "mask",
        **{part: {"value": 0.5} for part in ("reliance", "kept", "lost")},
    }
    summary = {"systems": {"a": "A", "b": "B"}, "analysis": [{"train": "T", "system": "a", "audits": [audit]}]}
    (row,) = [line for line in reliance_lines(summary) if line.startswith("| T ")]
    assert [cell.strip() for cell in row.split("|")[3:-1]] == ["mask token", "0.50", "–", "0.50", "–", "0.50", "–"]
