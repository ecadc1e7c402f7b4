"""``python -m benchmarks.backbones``: what frozen vectors of each embedded backbone are worth, mean and document token.

Logistic regressions on HWU64, three draws of the documents. Writes ``results/backbones.json`` and the table of
``docs/backbones.md``; ``--page`` only writes the page. A backbone that is not cached is downloaded.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from benchmarks.drift_page import write_tables
from masker.config import DataSettings
from masker.documents import Documents, read_documents, subsample
from masker.documents.encoding import encode
from masker.files import write_json
from masker.inference.torch_backend import encoder_vectors
from masker.labels import class_indices
from masker.metrics import accuracy
from masker.modeling.backbone import load_encoder, load_tokenizer
from masker.modeling.embedded import EMBEDDED, embedded_folder
from masker.provenance import provenance
from masker.training.probe import STRENGTHS, fit_probe

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "backbones.json"
PAGE = ROOT / "docs" / "backbones.md"

SEEDS = (0, 1, 2)
TRAIN, TEST, TOKENS = 1500, 600, 64
READINGS = {"mean": False, "document token": True}  # whether the first token is read


def _draw(part: str, count: int, seed: int) -> Documents:
    return subsample(read_documents(f"hwu64:{part}", DataSettings(), require_labels=True), count, seed)


def probe_accuracy(encoder: Any, tokenizer: Any, first: bool, seed: int) -> float:
    """The best accuracy over the strengths of a probe."""
    train, test = _draw("train", TRAIN, seed), _draw("test", TEST, seed)
    classes = sorted({*train.class_names, *test.class_names})
    vectors, labels = [], []
    for part in (train, test):
        encoded = encode(tokenizer, part.texts, None, TOKENS)
        vectors.append(encoder_vectors(encoder, tokenizer, encoded, first=first))
        labels.append(class_indices(part.labels or [], classes))
    probes = (fit_probe(vectors[0], labels[0], len(classes), strength=strength) for strength in STRENGTHS)
    return max(accuracy(labels[1], probe(vectors[1]).argmax(axis=1)) for probe in probes)


def measure() -> dict[str, Any]:
    """Accuracies by backbone and reading, one a seed."""
    found: dict[str, Any] = {}
    for name in EMBEDDED:
        folder = str(embedded_folder(name))
        encoder, tokenizer = load_encoder(folder), load_tokenizer(folder)
        found[name] = {
            reading: [probe_accuracy(encoder, tokenizer, first, seed) for seed in SEEDS]
            for reading, first in READINGS.items()
        }
        print(name, found[name], file=sys.stderr)
    return found


def table(results: dict[str, Any]) -> str:
    lines = [f"| | {' | '.join(READINGS)} |", "| --- | ---: | ---: |"]
    for name, readings in results["probes"].items():
        cells = [100 * statistics.mean(readings[reading]) for reading in READINGS]
        spread = [100 * statistics.stdev(readings[reading]) for reading in READINGS]
        shown = " | ".join(f"{mean:.1f} ± {around:.1f}" for mean, around in zip(cells, spread, strict=True))
        lines.append(f"| `{name}` | {shown} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.backbones")
    parser.add_argument("--page", action="store_true", help="write the page from the JSON, measure nothing")
    if parser.parse_args().page:
        results = json.loads(RESULTS.read_text(encoding="utf-8"))
    else:
        results = {"probes": measure(), "train": TRAIN, "test": TEST, "provenance": provenance()}
        write_json(RESULTS, results)
    write_tables(results, PAGE, {"probes": (table, ["probes"])})


if __name__ == "__main__":
    main()
