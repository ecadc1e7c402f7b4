"""From the figures of runs to means, deviations, gaps and comparisons, worked out by hand."""

from __future__ import annotations

import json

from masker.experiments.summary import dumps_summary
from masker.report.reproduction import summary_lines, table_lines
from tests.experiments.conftest import AUROC, origin


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


def test_the_gap_is_the_loss_in_another_domain(summary_of):
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


def test_a_system_without_a_figure_shows_only_the_papers(summary_of):
    figures = {**AUROC, ("doc", 0): {}, ("doc", 1): {}}
    system = {"title": "DOC", "settings": {"training": {"method": "vanilla"}}, "backbone_free": True}
    summary = summary_of(figures, systems={"doc": system, "masker": {"title": "MASKER"}}, comparisons=[])
    doc = summary["cells"][0]
    assert (doc["mean"], doc["deviation"], doc["backbone"], doc["paper"]["mean"]) == (None, None, "", 88.1)
    assert "– (88.1)" in table_lines(summary)[2]


def test_a_summary_is_small_and_readable_and_names_its_origin(summary_of):
    stand_in = {"other": {"corpus": "topics", "reason": "never used here"}}
    summary = summary_of(AUROC, scale={"stand_ins": stand_in, "notes": ["Mind this."], "train_documents": 40})
    text = dumps_summary(summary)
    assert json.loads(text) == summary
    assert sum('"SST-2"' in line for line in text.splitlines()) == 2, "one line per cell"
    assert summary["setting"]["stand_ins"] == {}
    assert summary["provenance"] == origin()
    stages = {"train": 6, "evaluate": 6, "keywords": 2}
    assert summary["origins"] == [{"commit": origin()["commit"], "versions": origin()["versions"], "stages": stages}]
    report = "\n".join(summary_lines(summary))
    assert "Mind this." in report and "40 training documents" in report and "seeds 0, 1" in report


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
