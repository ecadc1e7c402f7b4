"""The paper's tables, as they are printed."""

from __future__ import annotations

import pytest

from masker.errors import ConfigError
from masker.experiments.paper_numbers import find_number, paper_table, paper_tables


@pytest.mark.parametrize(
    ("table", "cell", "mean", "deviation"),
    [
        ("ood_ablation", {"system": "masker", "metric": "auroc"}, 85.48, 0.54),
        ("ood_ablation", {"system": "ocsvm", "metric": "detection_accuracy"}, 72.99, 4.69),
        ("ood_ablation", {"system": "frequency-mkr", "metric": "accuracy"}, 83.35, 1.77),
        ("ood_main", {"train": "Newsgroup", "test": "SST-2", "system": "vanilla", "metric": "auroc"}, 87.0, None),
        ("ood_main", {"train": "Amazon", "test": "Fine Food", "system": "doc", "metric": "auroc"}, 66.8, None),
        ("ood_more", {"train": "Amazon", "ratio": 50, "system": "masker", "metric": "tnr_at_tpr80"}, 61.5, None),
        ("ood_more", {"train": "Newsgroup", "ratio": 100, "system": "doc", "metric": "accuracy"}, 86.9, None),
        ("ood_acc", {"train": "Amazon", "system": "residual", "metric": "accuracy"}, 70.3, None),
        ("gen_ablation", {"train": "Fine Food", "test": "IMDB", "system": "masker", "metric": "gap"}, -10.90, None),
        ("gen_ablation", {"train": "IMDB", "test": "Fine Food", "system": "masker", "metric": "gap"}, 0.12, None),
        ("gen_sent", {"train": "SST-2", "test": "IMDB", "system": "openmax", "metric": "accuracy"}, 75.3, None),
        ("gen_nli", {"test": "Face-to-Face", "system": "masker", "metric": "accuracy"}, 78.5, None),
        ("gen_stsb", {"train": "Images", "test": "Headlines", "system": "masker", "metric": "pearson"}, 75.3, None),
        (
            "gen_stsb_all",
            {"train": "MSRpar", "test": "Headlines", "system": "vanilla", "metric": "pearson"},
            67.1,
            None,
        ),
    ],
)
def test_a_sample_of_printed_numbers(table, cell, mean, deviation):
    given = {"train": "Amazon", "test": "Amazon", "ratio": 25, "backbone": "BERT"}
    given |= {"train": "Telephone"} if table == "gen_nli" else {}
    given |= {"ratio": 100} if table == "ood_acc" else {}
    number = find_number([table], **{**given, **cell})
    assert (number.mean, number.deviation, number.table) == (mean, deviation, table)


def test_how_many_numbers_the_tables_have():
    """Counted in the paper: rows x columns, e.g. ood_main has 10 rows of 2 baselines and 3 encoders x 3 systems."""
    counts = {name: len(paper_table(name).numbers) for name in paper_tables()}
    assert counts == {
        "gen_ablation": 11 * 6 * 2,
        "gen_nli": 6 * 3,
        "gen_sent": 9 * (2 + 9),
        "gen_stsb": 6 * 6,
        "gen_stsb_all": 6 * 16,
        "ood_ablation": 12 * 4 - 1,  # a one-class SVM has no classification accuracy
        "ood_acc": 2 * (2 + 9),
        "ood_main": 10 * (2 + 9),
        "ood_more": 16 * 3 * 4 + 8 * 3,
    }


@pytest.mark.parametrize("name", paper_tables())
def test_cells_are_unique(name):
    cells = [tuple(sorted(number.cell.items())) for number in paper_table(name).numbers]
    assert len(set(cells)) == len(cells)


@pytest.mark.parametrize("name", paper_tables())
def test_printed_gains_fit_the_printed_means(name):
    """A gain is 100 (MASKER / vanilla - 1), printed to one decimal from unrounded means."""
    for number in paper_table(name).numbers:
        if number.relative_gain is not None:
            vanilla = find_number([name], **{**number.cell, "system": "vanilla"})
            assert number.relative_gain == pytest.approx(100 * (number.mean / vanilla.mean - 1), abs=0.12), number.cell


def test_both_of_two_numbers_that_disagree_are_kept():
    cell = {"train": "Newsgroup", "test": "Amazon", "ratio": 100, "backbone": "BERT", "metric": "auroc"}
    one, other = (find_number([table], **cell, system="masker") for table in ("ood_main", "ood_more"))
    assert (one.mean, other.mean) == (87.0, 96.8)
    assert "96.8" in one.note and "87.0" in other.note


def test_numbers_that_two_tables_print_agree_or_carry_a_note():
    for number in paper_table("ood_main").numbers:
        other = find_number(["ood_more"], **{**number.cell, "ratio": 100})
        if other is not None:
            assert number.mean == other.mean or (number.note and other.note)
    for number in paper_table("gen_stsb").numbers:
        assert find_number(["gen_stsb_all"], **number.cell).mean == number.mean


def test_lookup_prefers_the_first_table_and_says_none():
    cell = {
        "train": "Amazon",
        "test": "Amazon",
        "ratio": 25,
        "backbone": "BERT",
        "system": "vanilla",
        "metric": "auroc",
    }
    assert find_number(["ood_main", "ood_ablation", "ood_more"], **cell).mean == 78.46
    assert find_number(["ood_more", "ood_ablation"], **cell).mean == 78.5
    assert find_number(["ood_main"], **{**cell, "test": "Yelp"}) is None
    with pytest.raises(ConfigError, match=r"no table 'ood_mian'.*Did you mean 'ood_main'"):
        find_number(["ood_mian"], **cell)
    with pytest.raises(ConfigError, match=r"a cell is identified by train, .*; got corpus"):
        find_number(["ood_main"], corpus="Amazon")
