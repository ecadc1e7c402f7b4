"""Made-up corpora in a MASKER_DATA folder, recipes over them that a tiny encoder trains in seconds, made-up results."""

from __future__ import annotations

import gzip
import json
import random
from functools import partial

import pytest
import yaml

from masker.experiments.plan import plan_recipe
from masker.experiments.recipe import load_recipe
from masker.experiments.reproduce import reproduce
from masker.experiments.stages import MODEL, Graph, finish_stage, make_stage, partial_folder
from masker.experiments.summary import summarise
from masker.report.reproduction import write_report
from tests.conftest import make_corpus

TOPICS = {
    "space": ["rocket", "orbit", "moon", "launch"],
    "food": ["bread", "soup", "cheese", "recipe"],
    "sport": ["goal", "player", "season", "coach"],
    "dinner": ["kitchen", "garlic", "pepper", "dinner"],
}


def write_corpus(folder, name, split, rows):
    with gzip.open(folder / f"{name}.{split}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory):
    """``topics`` (4 classes), ``foreign`` (other words, same classes), ``pairs`` (scores, two genres)."""
    folder = tmp_path_factory.mktemp("corpora")
    for split, count, seed in (("train", 64, 0), ("test", 32, 1)):
        texts, labels = make_corpus(count, seed, TOPICS)
        write_corpus(folder, "topics", split, [{"text": t, "label": c} for t, c in zip(texts, labels, strict=True)])
    words = "league ball stadium score planet satellite astronaut shuttle".split()
    draw = random.Random(3)
    foreign = [{"text": " ".join(draw.choices(words, k=8)), "label": ("space", "food")[n % 2]} for n in range(24)]
    write_corpus(folder, "foreign", "test", foreign)
    for split, count in (("train", 40), ("dev", 8), ("test", 16)):
        first, second = make_corpus(count, 5)[0], make_corpus(count, 6)[0]
        rows = [
            {"text": a, "text_pair": b, "label": float(n % 5), "genre": ("calm", "loud")[n % 2]}
            for n, (a, b) in enumerate(zip(first, second, strict=True))
        ]
        write_corpus(folder, "pairs", split, rows)
    return folder


@pytest.fixture
def corpora(data_folder, monkeypatch):
    """The made-up corpora, by name, for this process."""
    monkeypatch.setenv("MASKER_DATA", str(data_folder))
    return data_folder


TINY = {
    "name": "tiny",
    "title": "Made-up topics",
    "paper_tables": ["ood_main"],
    "preset": "ood",
    "settings": {
        "model": {"max_length": 24, "head": "one-vs-rest"},
        "training": {"batch_size": 8, "learning_rate": 0.002, "head_lr_scale": 1.0, "precision": "fp32"},
        "keywords": {"per_class": 2},
    },
    "sources": {
        "Newsgroup": {
            "train": {"corpus": "topics", "split": "train", "class_ratio": 1.0},
            "tests": {"known classes": {"corpus": "topics", "split": "test", "class_ratio": 1.0}},
            "ood": {
                "SST-2": {"corpus": "foreign", "split": "test"},
                "unseen classes": {"corpus": "topics", "split": "test", "class_ratio": 1.0, "classes": "unseen"},
            },
        }
    },
    "systems": {
        "vanilla": {"title": "vanilla", "settings": {"training": {"method": "vanilla"}}},
        "masker": {"title": "MASKER", "settings": {"training": {"method": "masker"}}},
        "mkr": {"title": "MKR", "settings": {"training": {"method": "masker"}, "loss": {"lambda_mer": 0.0}}},
    },
    "metrics": ["auroc"],
    "table": {"rows": ["train", "test"], "columns": ["system"]},
    "comparisons": [{"system": "masker", "baseline": "vanilla", "metric": "auroc"}],
    "scales": {
        "small": {
            "hardware": "2 CPU cores",
            "seeds": [0, 1],
            "backbones": {"BERT": {"model": "replaced by the test", "epochs": {"vanilla": 2, "masker": 4}}},
        }
    },
}


def write_recipe(folder, backbone, name="tiny", *, scale=None, **entries):
    """A recipe file: the one above with some top-level entries replaced, and scale entries on top."""
    content = {**json.loads(json.dumps(TINY)), **entries, "name": name}
    content["scales"]["small"]["backbones"]["BERT"]["model"] = backbone
    content["scales"]["small"] |= scale or {}
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return str(path)


@pytest.fixture
def tiny_recipe(tiny_backbones, tmp_path):
    return partial(write_recipe, tmp_path, tiny_backbones["bert"])


def origin(commit="0123456789abcdef", created="2030-01-02T00:00:00+00:00", **versions):
    """The provenance of a stage."""
    packages = {"masker": "0.1.0", "torch": "2.13.0", "transformers": "5.0", **versions}
    return {"created": created, "machine": "Linux x86_64", "commit": commit, "versions": packages}


def leave_record(output, stage, result, *, model=False, **record):
    """Finish a stage without doing its work."""
    folder = partial_folder(output, stage.id)
    folder.mkdir(parents=True)
    if model:
        (folder / MODEL).mkdir()
    content = {"result": result, "took": 1.0, "resumed": False, "provenance": origin(), **record}
    finish_stage(output, stage, content)


AUROC = {
    ("vanilla", 0): {"SST-2": {"auroc": 0.80}},
    ("vanilla", 1): {"SST-2": {"auroc": 0.84}},
    ("masker", 0): {"SST-2": {"auroc": 0.90}},
    ("masker", 1): {"SST-2": {"auroc": 0.84}},
    ("mkr", 0): {"SST-2": {}},
    ("mkr", 1): {"SST-2": {}},
}


@pytest.fixture
def summary_of(corpora, tiny_recipe, tmp_path):
    """The summary of a recipe whose evaluations are made up: ``figures[system, seed]``."""

    def make(figures, **entries):
        plan = plan_recipe(load_recipe(tiny_recipe(**entries)), "small")
        values = {
            run.goal: {
                test: {name: {"value": value} for name, value in measured.items()}
                for test, measured in figures[run.system, run.seed].items()
            }
            for run in plan.runs
        }
        for stage in plan.graph.stages.values():
            leave_record(tmp_path, stage, {"figures": values.get(stage.id, {})})
        return summarise(plan, tmp_path)

    return make


@pytest.fixture
def graph():
    """vanilla -> keywords -> masker, and an evaluation of both models."""
    graph = Graph()
    vanilla = graph.add(make_stage("train", {"name": "vanilla"}, title="vanilla", seconds=10.0))
    graph.add(make_stage("evaluate", {"n": 1}, [vanilla.id], title="vanilla's", seconds=1.0), goal=True)
    keywords = graph.add(make_stage("keywords", {}, [vanilla.id], title="keywords", seconds=1.0))
    masker = graph.add(make_stage("train", {"name": "masker"}, [keywords.id], title="masker", seconds=20.0))
    graph.add(make_stage("evaluate", {"n": 1}, [masker.id], title="masker's", seconds=1.0), goal=True)
    return graph


def leave_result(stage, output):
    """Stands in for ``run_stage``: leaves what a stage leaves, without doing its work."""
    leave_record(output, stage, {}, took=2.0 * stage.seconds, model=stage.kind == "train")


class Listener:
    def __init__(self):
        self.heard = []

    def started(self, stage):
        self.heard.append(f"+{stage.title}")

    def done(self, stage, seconds):
        self.heard.append(f"-{stage.title}")
        assert seconds >= 0


TESTS = {
    "known": {"corpus": "topics", "split": "test"},
    "foreign": {"corpus": "foreign", "split": "test"},
}
VANILLA = {"vanilla": {"title": "vanilla", "settings": {"training": {"method": "vanilla"}}}}


@pytest.fixture
def analysed(corpora, tiny_recipe, tmp_path):
    """Runs an analysis; its outcome and its report."""

    def run(kind, *, systems=VANILLA, sets=TESTS, comparisons=(), **options):
        path = tiny_recipe(
            kind,
            analysis={"kind": kind, "figure": f"fig:{kind}", "options": options},
            sources={"Topics": {"train": {"corpus": "topics", "split": "train"}, "tests": sets}},
            systems=systems,
            comparisons=list(comparisons),
            metrics=[],
            table=None,
            scale={"seeds": [0]},
        )
        [outcome] = reproduce([path], tmp_path / "out")
        return outcome, write_report(outcome)

    return run
