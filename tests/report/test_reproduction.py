"""Results as Markdown: the table, footnotes, the sentences of comparisons, and the code behind it all."""

from __future__ import annotations

from masker.report.reproduction import comparison_sentence, origin_lines, shown_commit, summary_lines, table_lines
from tests.experiments.conftest import AUROC, origin


def cell(mean=50.0, **keys):
    return {"train": "T", "test": "X", "backbone": "BERT", "model": "m", "system": "s", "metric": "auroc",
            "mean": mean, "deviation": None, **keys}  # fmt: skip


def test_a_key_that_distinguishes_cells_is_never_lost():
    summary = {"systems": {"s": "S"}, "table": {"rows": ["train"], "columns": ["system"]}}
    lines = table_lines({**summary, "cells": [cell(1.0), cell(2.0, test="Y")]})
    assert [line.split("|")[1:3] for line in lines[2:]] == [
        [" T          ", " X         "],
        [" T          ", " Y         "],
    ]


def test_a_system_without_an_encoder_appears_in_the_row_of_every_encoder():
    summary = {"systems": {"s": "S", "d": "D"}, "table": {"rows": ["train", "backbone"], "columns": ["system"]}}
    cells = [cell(1.0, system="d", backbone="", model=""), cell(2.0, model="one"), cell(3.0, backbone="R", model="two")]
    lines = table_lines({**summary, "cells": cells})
    assert [line.replace(" ", "") for line in lines[2:]] == ["|T|one|1.0|2.0|", "|T|two|1.0|3.0|"]


def test_odd_numbers_of_the_paper_get_a_footnote(summary_of):
    source = {"train": {"corpus": "topics", "split": "train"}, "tests": {"k": {"corpus": "topics", "split": "test"}},
              "ood": {"Amazon": {"corpus": "foreign", "split": "test"}}}  # fmt: skip
    figures = {key: {"Amazon": value["SST-2"]} for key, value in AUROC.items()}
    lines = summary_lines(summary_of(figures, sources={"Newsgroup": source}))
    assert any("(87.0*)" in line for line in lines)
    assert any(line.startswith("- \\*") and "96.8" in line for line in lines)


def test_the_data_behind_a_table_are_described():
    setting = {
        "hardware": "2 CPU cores", "models": ["minilm"], "seeds": [0], "train_documents": 10, "test_documents": 1000,
        "class_ratio": None, "stand_ins": {}, "settings": {}, "notes": ["Mind this."], "split_by_seed": True,
        "test_sizes": {"Letters": [230, 230], "unseen classes": [900, 1000]}, "raw": {"a": True, "b": False},
    }  # fmt: skip
    summary = {"scale": "small", "setting": setting, "cells": [], "comparisons": [], "systems": {}}
    summary["table"] = {"rows": ["train"], "columns": ["system"]}
    assert summary_lines(summary)[:6] == [
        "Scale `small` (2 CPU cores): encoder minilm, 10 training documents, 1,000 documents per test set at most, "
        "seed 0.",
        "Documents of smaller test sets: Letters 230.",
        "Each seed draws its own known classes, so deviations include the choice of classes.",
        "`a` is the raw text, as in the paper.",
        "`b` was **not** the raw text that the paper uses.",
        "Mind this.",
    ]
    presets = summary_lines({**summary, "setting": {**setting, "preset": "ood"}})
    assert presets[6].startswith(
        "Systems start from the preset `ood`, training as in the paper, except: rate and batch"
    )
    searched = summary_lines({**summary, "setting": {**setting, "preset": "ood", "grid": True, "overrides": ["a.b=1"]}})
    assert "**Not the recipe's settings:** `a.b=1`." in searched
    assert "rate and batch size were searched" in searched[7] and "one of its choices" not in searched[7]
    assert "Documents of the test sets" in "\n".join(
        summary_lines({**summary, "setting": {**setting, "test_documents": None}})
    )


def test_a_comparison_is_a_sentence():
    row = {"system": "a", "baseline": "b", "metric": "eer", "wins": 2, "cells": 3, "difference": 1.5}
    row |= {"p_value": 0.25, "smallest_p": 0.25, "units": 3}
    assert comparison_sentence(row, {"a": "A", "b": "B"}) == (
        "**A against B, EER:** better in 2 of 3 cells, +1.5 points on average over 3 pairs of training runs; "
        "too few runs to show a difference (the smallest possible p is 0.25)."
    )


def group(commit, stages, **versions):
    return {**origin(commit, **versions), "stages": stages}


def test_a_table_says_if_its_stages_were_run_with_different_code():
    """Each group names its commit, the packages that differ, and its stages; what all have in common is not news."""
    groups = [
        group("a" * 40, {"train": 3, "keywords": 1}),
        group("b" * 40 + " with local changes", {"evaluate": 2}, torch="2.14.0"),
        group(None, {"evaluate": 1}, masker="0.2.0"),
    ]
    assert origin_lines({"origins": groups}) == [
        "**Not all stages were run with the same code:** "
        "commit aaaaaaaaaaaa, masker 0.1.0, torch 2.13.0 (3 train, 1 keywords); "
        "commit bbbbbbbbbbbb with local changes, masker 0.1.0, torch 2.14.0 (2 evaluate); "
        "installed masker 0.2.0, masker 0.2.0, torch 2.13.0 (1 evaluate)."
    ]


def test_one_origin_needs_no_line(summary_of):
    summary = summary_of(AUROC)
    assert origin_lines(summary) == []
    assert origin_lines({}) == [], "a summary written before there were origins"
    other = {**summary, "origins": [*summary["origins"], group("b" * 40, {"train": 1})]}
    assert len(summary_lines(other)) == len(summary_lines(summary)) + 1
    assert any("not all stages" in line.lower() for line in summary_lines(other))


def test_commits_are_short():
    assert shown_commit({"commit": "0123456789abcdef"}) == "commit 0123456789ab"
