"""From the figures of runs to means, deviations, gaps and tables, worked out by hand."""

from __future__ import annotations

import json

import pytest

from masker.experiments.plan import plan_recipe
from masker.experiments.recipe import load_recipe
from masker.experiments.stages import finish, partial_folder
from masker.experiments.summary import dumps_summary, summarise
from masker.report.reproduction import comparison_sentence, summary_lines, table_lines


@pytest.fixture
def summary_of(corpora, tiny_recipe, tmp_path):
    """The summary of a recipe whose evaluations are made up: ``figures[system, seed]``."""

    def make(figures, **entries):
        plan = plan_recipe(load_recipe(tiny_recipe(**entries)), "small")
        for run in plan.runs:
            stage = plan.graph.stages[run.goal]
            partial_folder(tmp_path, stage.id).mkdir(parents=True)
            values = {
                test: {name: {"value": value} for name, value in measured.items()}
                for test, measured in figures[run.system, run.seed].items()
            }
            finish(tmp_path, stage, {"result": {"figures": values}, "took": 1.0, "resumed": False})
        return summarise(plan, tmp_path)

    return make


AUROC = {
    ("vanilla", 0): {"SST-2": {"auroc": 0.80}},
    ("vanilla", 1): {"SST-2": {"auroc": 0.84}},
    ("masker", 0): {"SST-2": {"auroc": 0.90}},
    ("masker", 1): {"SST-2": {"auroc": 0.84}},
    ("mkr", 0): {"SST-2": {}},
    ("mkr", 1): {"SST-2": {}},
}


def test_false_alarms_belong_to_the_training_domain_alone(summary_of):
    figures = {key: {"known classes": {"false_alarms": 0.04}, "SST-2": {"false_alarms": 0.9}} for key in AUROC}
    summary = summary_of(figures, metrics=["false_alarms"], comparisons=[])
    assert {cell["test"] for cell in summary["cells"]} == {"known classes"}
    assert summary["cells"][0]["values"] == [4.0, 4.0]


def test_means_deviations_and_the_paper_beside_them(summary_of):
    """vanilla: 80 and 84, mean 82, deviation sqrt((4 + 4) / 1) = 2.83. MASKER: 90 and 84, mean 87, sqrt(9 + 9) = 4.24.

    MASKER minus vanilla: 10 and 0, mean 5, one of two cells won. The paper prints 87.0 and 98.6 for Newsgroup -> SST-2.
    """
    summary = summary_of(AUROC)
    vanilla, masker = summary["cells"]
    assert (vanilla["mean"], vanilla["deviation"], vanilla["values"]) == (82.0, 2.83, [80.0, 84.0])
    assert (masker["mean"], masker["deviation"]) == (87.0, 4.24)
    assert (vanilla["paper"]["mean"], masker["paper"]["mean"]) == (87.0, 98.6)
    comparison = summary["comparisons"][0]
    assert (comparison["difference"], comparison["wins"], comparison["cells"], comparison["units"]) == (5.0, 1, 2, 2)
    lines = table_lines(summary)
    assert lines[0].split("|")[1:-1] == [" trained on ", " tested on ", "           vanilla ", "            MASKER "]
    assert lines[2] == "| Newsgroup  | SST-2     | 82.0 ± 2.8 (87.0) | 87.0 ± 4.2 (98.6) |"


def test_the_gap_is_what_is_lost_on_the_way_to_another_domain(summary_of):
    """Accuracy 0.9 at home and 0.7 abroad: a gap of -20 points. The training domain itself has none."""
    everyone = {("vanilla", seed): {"IMDB": {"accuracy": 0.9}, "SST-2": {"accuracy": 0.7}} for seed in (0, 1)}
    summary = summary_of(
        everyone,
        paper_tables=["gen_ablation"],
        sources={"IMDB": {
            "train": {"corpus": "topics", "split": "train"},
            "tests": {"IMDB": {"corpus": "topics", "split": "test"}, "SST-2": {"corpus": "foreign", "split": "test"}},
        }},
        systems={"vanilla": {"title": "vanilla", "settings": {"training": {"method": "vanilla"}}}},
        comparisons=[],
        metrics=["accuracy", "gap"],
        table={"rows": ["train", "test"], "columns": ["metric"]},
    )  # fmt: skip
    assert [(cell["test"], cell["metric"], cell["mean"]) for cell in summary["cells"]] == [
        ("IMDB", "accuracy", 90.0),
        ("SST-2", "accuracy", 70.0),
        ("SST-2", "gap", -20.0),
    ]
    assert summary["cells"][2]["paper"]["mean"] == -7.57
    assert [line.replace(" ", "") for line in table_lines(summary)[2:]] == [
        "|IMDB|IMDB|90.0±0.0||",
        "|IMDB|SST-2|70.0±0.0(85.9±1.9)|-20.0±0.0(-7.6)|",
    ]


def test_a_system_without_a_figure_shows_the_papers_alone(summary_of):
    figures = {**AUROC, ("doc", 0): {}, ("doc", 1): {}}
    system = {"title": "DOC", "settings": {"training": {"method": "vanilla"}}, "backbone_free": True}
    summary = summary_of(figures, systems={"doc": system, "masker": {"title": "MASKER"}}, comparisons=[])
    doc = summary["cells"][0]
    assert (doc["mean"], doc["deviation"], doc["backbone"], doc["paper"]["mean"]) == (None, None, "", 88.1)
    assert "– (88.1)" in table_lines(summary)[2]


def cell(mean=50.0, **keys):
    return {"train": "T", "test": "X", "backbone": "BERT", "model": "m", "system": "s", "metric": "auroc",
            "mean": mean, "deviation": None, **keys}  # fmt: skip


def test_a_key_that_tells_cells_apart_is_never_lost():
    summary = {"systems": {"s": "S"}, "table": {"rows": ["train"], "columns": ["system"]}}
    lines = table_lines({**summary, "cells": [cell(1.0), cell(2.0, test="Y")]})
    assert [line.split("|")[1:3] for line in lines[2:]] == [
        [" T          ", " X         "],
        [" T          ", " Y         "],
    ]


def test_a_system_without_an_encoder_stands_in_the_row_of_every_encoder():
    summary = {"systems": {"s": "S", "d": "D"}, "table": {"rows": ["train", "backbone"], "columns": ["system"]}}
    cells = [cell(1.0, system="d", backbone="", model=""), cell(2.0, model="one"), cell(3.0, backbone="R", model="two")]
    lines = table_lines({**summary, "cells": cells})
    assert [line.replace(" ", "") for line in lines[2:]] == ["|T|one|1.0|2.0|", "|T|two|1.0|3.0|"]


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"p_value": 0.25, "smallest_p": 0.25, "units": 3}, "so few runs cannot show a difference"),
        ({"p_value": 0.3, "smallest_p": 0.03, "units": 6}, "p = 0.300 (sign-flip test over runs): no difference shown"),
        ({"p_value": 0.031, "smallest_p": 0.031, "units": 6}, "a better system"),
        ({"p_value": 0.031, "smallest_p": 0.031, "units": 6, "difference": -1.0}, "a worse system"),
    ],
)
def test_what_a_comparison_may_claim(figures, words):
    row = {"system": "a", "baseline": "b", "metric": "eer", "wins": 2, "cells": 3, "difference": 1.5, **figures}
    assert words in comparison_sentence(row, {"a": "A", "b": "B"})


def test_a_summary_is_small_readable_and_says_what_it_was_made_with(summary_of):
    stand_in = {"other": {"corpus": "topics", "reason": "never used here"}}
    summary = summary_of(AUROC, scale={"stand_ins": stand_in, "notes": ["Mind this."], "train_documents": 40})
    text = dumps_summary(summary)
    assert json.loads(text) == summary
    assert sum('"SST-2"' in line for line in text.splitlines()) == 2, "one line a cell"
    assert summary["setting"]["stand_ins"] == {}
    assert summary["provenance"]["versions"]["masker"]
    report = "\n".join(summary_lines(summary))
    assert "Mind this." in report and "40 training documents" in report and "seeds 0, 1" in report


def test_odd_numbers_of_the_paper_get_a_footnote(summary_of):
    source = {"train": {"corpus": "topics", "split": "train"}, "tests": {"k": {"corpus": "topics", "split": "test"}},
              "ood": {"Amazon": {"corpus": "foreign", "split": "test"}}}  # fmt: skip
    figures = {key: {"Amazon": value["SST-2"]} for key, value in AUROC.items()}
    lines = summary_lines(summary_of(figures, sources={"Newsgroup": source}))
    assert any("(87.0*)" in line for line in lines)
    assert any(line.startswith("- \\*") and "96.8" in line for line in lines)


def test_a_system_without_an_encoder_is_compared_too(summary_of):
    """DOC has no encoder: 70 and 74 against 90 and 84 is 20 and 10, 15 on average over two pairs."""
    systems = {
        "doc": {"title": "DOC", "settings": {"training": {"method": "doc"}}, "backbone_free": True},
        "masker": {"title": "MASKER", "settings": {"training": {"method": "masker"}}},
    }
    figures = {**AUROC, ("doc", 0): {"SST-2": {"auroc": 0.70}}, ("doc", 1): {"SST-2": {"auroc": 0.74}}}
    question = {"system": "masker", "baseline": "doc", "metric": "auroc"}
    (found,) = summary_of(figures, systems=systems, comparisons=[question])["comparisons"]
    assert (found["units"], found["wins"], found["difference"]) == (2, 2, 15.0)


def test_fewer_false_alarms_are_better(summary_of):
    rates = {"vanilla": 0.05, "masker": 0.2, "mkr": 0.05}
    figures = {key: {"known classes": {"false_alarms": rates[key[0]]}} for key in AUROC}
    question = {"system": "masker", "baseline": "vanilla", "metric": "false_alarms"}
    (found,) = summary_of(figures, metrics=["false_alarms"], comparisons=[question])["comparisons"]
    assert (found["wins"], found["difference"]) == (0, -15.0)
