"""What the trust benchmark works on: made-up texts, an encoder that trains in seconds, a recipe over them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import yaml

from tests.conftest import make_backbone, make_corpus

Rows = list[dict[str, str]]


def rows_of(count: int, seed: int = 0) -> Rows:
    return [{"text": text, "label": label} for text, label in zip(*make_corpus(count, seed), strict=True)]


def write_rows(path: Path, rows: Rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_inputs(folder: Path) -> None:
    """Everything but a trained model."""
    make_backbone("bert", folder / "bert")
    write_rows(folder / "train.jsonl", rows_of(60))
    write_rows(folder / "test.jsonl", rows_of(60, seed=1))
    weather = {"weather": ["rain", "storm", "cloud", "sunny", "wind", "snow", "frost", "thunder"]}
    new = [{"text": text, "label": label} for text, label in zip(*make_corpus(12, 5, weather), strict=True)]
    write_rows(folder / "new.jsonl", new)
    for number in range(3):
        write_rows(folder / "shards" / f"part-{number}.jsonl", rows_of(10, seed=10 + number))
    _write_recipe(folder)


def _write_recipe(folder: Path) -> None:
    """One system on one corpus; the corpora go to ``folder/corpora``, which MASKER_DATA must name."""
    (folder / "corpora").mkdir(exist_ok=True)
    for split, count, seed in (("train", 45, 0), ("test", 30, 1)):
        with gzip.open(folder / "corpora" / f"topics.{split}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows_of(count, seed))
    backbones = {"tiny": {"model": str(folder / "bert"), "epochs": {"vanilla": 1}}}
    recipe = {
        "name": "tiny",
        "title": "Made-up topics",
        "settings": {"model": {"max_length": 24}, "training": {"batch_size": 8, "precision": "fp32"}},
        "sources": {
            "topics": {
                "train": {"corpus": "topics", "split": "train"},
                "tests": {"topics": {"corpus": "topics", "split": "test"}},
            }
        },
        "systems": {"vanilla": {"title": "vanilla", "settings": {"training": {"method": "vanilla"}}}},
        "metrics": ["accuracy"],
        "table": {"rows": ["train", "test"], "columns": ["system"]},
        "scales": {"small": {"hardware": "1 CPU core", "seeds": [0], "backbones": backbones}},
    }
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe, sort_keys=False), encoding="utf-8")
