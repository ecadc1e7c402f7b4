"""Made-up corpora in a MASKER_DATA folder, and recipes over them that a tiny encoder trains in seconds."""

from __future__ import annotations

import gzip
import json
import random
from functools import partial

import pytest
import yaml

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
            "hardware": "anything",
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
