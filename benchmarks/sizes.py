"""``python -m benchmarks.sizes``: the default on very small and very large data, beside ``--method linear``.

Two classes of eight texts, a class with one text, 150 classes of five, 40,000 texts. Writes ``results/sizes.json`` and
the tables of ``docs/training.md``; ``--page`` only writes the page.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.drift_page import write_tables
from benchmarks.head_start import PAGE, fitted
from masker.config import DataSettings, build_settings
from masker.documents import Documents, detection_split, read_documents, subsample, subsample_classes
from masker.documents.texts import texts_of
from masker.files import write_json
from masker.metrics import accuracy, auroc
from masker.model import Model
from masker.provenance import provenance

RESULTS = Path(__file__).parent.parent / "results" / "sizes.json"
SEED, TEST = 0, 1000
METHODS = ("linear", "masker")
#: Read together they have 170 intents.
INTENTS = ("hwu64", "hint3-curekart", "hint3-powerplay11", "hint3-sofmattress")


class Data(NamedTuple):
    """What is trained on, tested on, and foreign."""

    train: Documents
    test: Documents
    foreign: Documents


def _read(corpus: str, split: str) -> Documents:
    return read_documents(f"{corpus}:{split}", DataSettings(), require_labels=True)


def few() -> Data:
    """Two intents of SNIPS, eight texts of each; the five others are foreign."""
    split = detection_split(_read("snips", "train"), _read("snips", "test"), 2 / 7, SEED)
    return Data(subsample_classes(split.train, 8, SEED), split.test, split.unseen)


def one_text(documents: Documents, name: str) -> Documents:
    """The same documents, but only the first of this class."""
    labels = [str(label) for label in documents.labels or []]
    first = labels.index(name)
    return documents.take([place for place, label in enumerate(labels) if label != name or place == first])


def lonely() -> Data:
    """A quarter of HWU64's intents, ten texts of each, but one of the first; the other intents are foreign."""
    split = detection_split(_read("hwu64", "train"), _read("hwu64", "test"), 0.25, SEED)
    train = subsample_classes(split.train, 10, SEED)
    return Data(one_text(train, sorted(train.class_names)[0]), split.test, split.unseen)


def joined(split: str) -> Documents:
    """The intents of four corpora; those of two that share a name stay two."""
    parts = {corpus: _read(corpus, split) for corpus in INTENTS}
    texts = [text for part in parts.values() for text in part.texts]
    labels = [f"{corpus}: {label}" for corpus, part in parts.items() for label in part.labels or []]
    return Documents(texts, None, labels, f"intents:{split}")


def many_classes() -> Data:
    """Five texts of each of 150 intents, as far as they have five; the other intents are foreign."""
    split = detection_split(joined("train"), joined("test"), 150 / 170, SEED)
    return Data(subsample_classes(split.train, 5, SEED), split.test, split.unseen)


def many_texts() -> Data:
    """40,000 phrases of film reviews; messages to a chat bot are foreign."""
    return Data(subsample(_read("sst2", "train"), 40_000, SEED), _read("sst2", "test"), _read("hint3-curekart", "test"))


CASES: dict[str, Callable[[], Data]] = {
    "2 classes × 8": few,
    "16 classes × 10, one with one text": lonely,
    "150 classes × 5": many_classes,
    "40,000 texts": many_texts,
}


def figures(model: Model, data: Data) -> dict[str, Any]:
    """Accuracy, AUROC against the foreign texts, and the shares rejected."""
    test = subsample(data.test, TEST, SEED)
    known, foreign = model.predict(texts_of(test)), model.predict(texts_of(subsample(data.foreign, TEST, SEED)))
    return {
        "accuracy": accuracy([str(label) for label in test.labels or []], [str(found.label) for found in known]),
        "auroc": auroc([found.ood_score for found in known], [found.ood_score for found in foreign]),
        "known_rejected": sum(found.is_ood for found in known) / len(known),
        "foreign_rejected": sum(found.is_ood for found in foreign) / len(foreign),
    }


def measured(name: str) -> dict[str, Any]:
    """One case: its size, what the default decided, and the figures of both methods."""
    data = CASES[name]()
    row: dict[str, Any] = {"case": name, "texts": len(data.train), "classes": len(data.train.class_names)}
    for method in METHODS:
        start = time.perf_counter()
        model = fitted(data.train, build_settings({"training": {"method": method, "seed": SEED}}))
        row[method] = {"seconds": time.perf_counter() - start, **figures(model, data)}
        if method == "masker":
            row["decisions"] = model.provenance["decisions"]
        print(name, method, row[method], file=sys.stderr)
    return row


def sizes_table(results: dict[str, Any]) -> str:
    """One row for each case, the linear model before the default."""

    def both(row: dict[str, Any], key: str) -> str:
        return " / ".join(f"{100 * row[method][key]:.1f}" for method in METHODS)

    lines = [
        "| texts | accuracy, % | AUROC, % | known texts rejected, % | foreign texts rejected, % | times as long |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in results["rows"].values():
        shares = [both(row, key) for key in ("accuracy", "auroc", "known_rejected", "foreign_rejected")]
        longer = row["masker"]["seconds"] / row["linear"]["seconds"]
        lines.append(f"| {row['case']} ({row['texts']:,}) | {' | '.join(shares)} | {longer:.1f} |")
    return "\n".join(lines) + "\n"


def decisions_table(results: dict[str, Any]) -> str:
    """What the default decided in each case."""
    lines = []
    for row in results["rows"].values():
        lines.append(f"- **{row['case']}**")
        lines += [f"    - {subject}: {decision}" for subject, decision in row["decisions"].items()]
    return "\n".join(lines) + "\n"


TABLES = {"sizes": (sizes_table, ("rows",)), "size decisions": (decisions_table, ("rows",))}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizes")
    parser.add_argument("--only", nargs="*", choices=list(CASES))
    parser.add_argument("--page", action="store_true", help="write the page from the JSON, measure nothing")
    options = parser.parse_args()
    results: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in [] if options.page else options.only or CASES:
        rows = {**results.get("rows", {}), name: measured(name)}
        results = {"rows": {case: rows[case] for case in CASES if case in rows}, "provenance": provenance(seed=SEED)}
        write_json(RESULTS, results)
    write_tables(results, PAGE, TABLES)


if __name__ == "__main__":
    main()
