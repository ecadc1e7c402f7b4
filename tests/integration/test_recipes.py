"""Recipes of the package in seconds: their own sources, systems and analyses, made-up corpora, a tiny encoder."""

from __future__ import annotations

import gzip
import json
import random
import re

import pytest
import yaml

from masker.experiments.engines import Execution
from masker.experiments.plan import RunOptions
from masker.experiments.recipe import load_recipe
from masker.experiments.reproduce import reproduce
from masker.report.page import add_results, make_page
from masker.report.reproduction import write_report

WORDS = "rocket orbit moon bread soup cheese goal player coach engine wheel brake novel chapter poem lamp".split()
TOPICS = ["earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship"]
CLASSES = {
    "20newsgroups": [f"group{n}" for n in range(8)],
    "amazon24": [f"kind{n}" for n in range(8)],
    "hwu64": [f"intent{n}" for n in range(8)],
    "atis": ["flight", "fare"],
    "reuters": TOPICS,
    "snips": ["play", "weather"],
    "imdb": ["negative", "positive"],
    "sst2": ["negative", "positive"],
    "finefood": ["negative", "positive"],
    "grocery": ["negative", "positive"],
}


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    draw = random.Random(0)
    for name, classes in CLASSES.items():
        for split, count in (("train", 12), ("test", 8)):
            with gzip.open(folder / f"{name}.{split}.jsonl.gz", "wt", encoding="utf-8") as file:
                for place, label in enumerate(classes):
                    for number in range(count):
                        words = [WORDS[(2 * place) % len(WORDS)], *draw.choices(WORDS, k=9), str(number)]
                        file.write(json.dumps({"text": f"Subject: {' '.join(words)}", "label": label}) + "\n")
    return folder


@pytest.fixture
def run_tiny(made_up, monkeypatch, tmp_path, tiny_backbones):
    """Runs part of a recipe at a tiny scale: its outcome and its report."""
    monkeypatch.setenv("MASKER_DATA", str(made_up))
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))

    def run(name, *only, finished=False):
        small = load_recipe(name).scale("small").model_dump(mode="json")
        encoder = {"model": tiny_backbones["bert"], "epochs": {"vanilla": 1, "masker": 1}}
        scale = {**small, "seeds": [0], "backbones": {"BERT": encoder}, "train_documents": 40, "test_documents": 12}
        scale["settings"] = {"model": {"max_length": 16}, "training": {"precision": "fp32"}}
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump({"extends": name, "scales": {"small": scale}}))
        [outcome] = reproduce(
            [str(path)], tmp_path / "out", RunOptions(only=only), Execution(device="cpu", finished=finished)
        )
        return outcome, write_report(outcome)

    return run


@pytest.mark.parametrize(
    ("name", "only"),
    [
        ("keyword-comparison", []),
        ("keyword-heatmap", ["train=Amazon", "train=IMDB"]),
        ("tsne", []),
        ("attention-analysis", []),
    ],
)
def test_figures(run_tiny, name, only, tmp_path):
    outcome, report = run_tiny(name, *only)
    assert outcome.summary["recipe"] == name and outcome.summary["analysis"]
    assert "amazon24" in report or name == "attention-analysis"
    assert (outcome.folder / "figure.svg").read_text(encoding="utf-8").startswith("<?xml")
    add_results(tmp_path / "out", tmp_path / "results")
    page = make_page(tmp_path / "results", tmp_path / "none.md")
    # Another encoder than the scale's is part of the name.
    assert re.search(rf"\(\.\./results/reproduction/{name}\.small\.[\w-]+\.svg\)", page)
    assert "The paper's figure shows " in page


@pytest.mark.parametrize(
    ("name", "only", "expected"),
    [
        ("split-ratio", ["train=Newsgroup 25 %", "system=vanilla", "system=masker"], ["AUROC ↑", "TNR at TPR 80 %"]),
        (
            "cross-domain-ablation",
            ["train=SST-2", "system=vanilla", "system=random-mkr", "system=frequency-mer"],
            ["gap to the training domain"],
        ),
        ("ood-ablation", ["train=Amazon", "system=class-balanced", "system=augment"], ["class-balanced attention"]),
    ],
)
def test_tables(run_tiny, name, only, expected):
    _, report = run_tiny(name, *only)
    assert all(text in report for text in expected)
    # The made-up posts begin with a subject.
    assert ("`20newsgroups` is the raw text" in report) == (name == "split-ratio")


def test_a_search_in_two_pieces_makes_one_table(run_tiny):
    _, first = run_tiny("regularizer", "train=Newsgroup", "system=vanilla", "system=none-1e-1", "system=mean")
    assert "not run on the confirming half" in first
    run_tiny("regularizer", "train=HWU64", "system=vanilla", "system=none-1e-1")
    outcome, report = run_tiny("regularizer", finished=True)
    assert {run.system for run in outcome.plan.runs} == {
        f"{system}:{score}" for system in ("vanilla", "none-1e-1", "mean") for score in ("max-prob", "auto")
    }
    assert "**AUROC, read by `max-prob`**, difference to vanilla (Newsgroup " in report
    assert "**AUROC, read by `auto`**" in report and "**accuracy**, difference to" in report
    assert report.count("Chosen: **") == 2
