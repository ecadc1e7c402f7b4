"""``python -m benchmarks.head_start``: where the head should start from, a probe of the documents or anew.

Part ``information``: the share of the labels' entropy that a probe explains of left-out documents, for each corpus.
Part ``starts``: accuracy at home and in other domains of networks that start from the probe and from a new head.
Part ``mistakes``: accuracy of the default and of ``--method linear`` where some training labels are wrong.

Writes ``results/head_start.json`` and the tables of ``docs/training.md``; ``--page`` only writes the page.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.drift_page import write_tables
from masker.config import DataSettings, Settings, build_settings
from masker.documents import Documents, read_documents, subsample, subsample_classes
from masker.documents.texts import texts_of
from masker.files import write_json
from masker.metrics import accuracy
from masker.model import Model
from masker.provenance import provenance
from masker.training import run_probes
from masker.training.run import TrainingRun

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "head_start.json"
PAGE = ROOT / "docs" / "training.md"

TOKENS, SEED, TEST = 128, 0, 600
#: What the classes are -> corpora; and documents that are read of each.
CORPORA = {
    "topics": ("20newsgroups", "reuters"),
    "kinds of product": ("amazon24",),
    "intents": ("hwu64", "snips", "atis", "hint3-curekart", "hint3-sofmattress", "hint3-powerplay11"),
    "sentiments": ("imdb", "sst2", "grocery"),
}
COUNTS = (200, 1000)
#: Trained on (with so many documents) -> tested on. The others have too few documents of a class for a new head.
TRANSFERS = {
    "imdb": (1000, ("imdb", "sst2", "grocery")),
    "sst2": (1000, ("sst2", "imdb", "grocery")),
    "grocery": (1000, ("grocery", "imdb", "sst2")),
}
#: Corpus, documents of a class, shares of the labels that are drawn at random.
MISTAKES = ("snips", 50, (0.0, 0.1, 0.35))
STARTS = {"probe": -math.inf, "new": 1.0}  # the least share that a probe must explain


def read(corpus: str, split: str, count: int) -> Documents:
    """Some labelled documents of a corpus."""
    return subsample(read_documents(f"{corpus}:{split}", DataSettings(), require_labels=True), count, SEED)


def fitted(train: Documents, chosen: Settings) -> Model:
    """A model, trained in a folder that goes."""
    with tempfile.TemporaryDirectory(prefix="masker-start-") as work:
        return Model.fit(train, chosen, Path(work) / "work", device="cpu")


def accuracy_on(model: Model, documents: Documents) -> float:
    """The share of the documents that get their own label, rejected or not."""
    own = [str(label) for label in documents.labels or []]
    return accuracy(own, [str(found.label) for found in model.predict(texts_of(documents))])


def settings() -> Settings:
    """Plain training with the package's defaults, and no folds: the start is compared, not the calibration."""
    training = {"method": "vanilla", "seed": SEED}
    return build_settings(
        {"training": training, "model": {"max_length": TOKENS}, "detection": {"calibration": "split"}}
    )


def explained_share(documents: Documents) -> float:
    """The share of the labels' entropy that a probe explains."""
    with tempfile.TemporaryDirectory(prefix="masker-start-") as work:
        run = TrainingRun(documents, documents.class_names, settings(), Path(work), "cpu")
        run.classifier_with_probe_head()
        return run.probes.information(enough=1.0)


def information() -> list[dict[str, Any]]:
    """The share for each corpus and number of documents."""
    rows = []
    for (kind, corpora), count in product(CORPORA.items(), COUNTS):
        for corpus in corpora:
            documents = read(corpus, "train", count)
            row = {"corpus": corpus, "kind": kind, "documents": len(documents), "classes": len(documents.class_names)}
            rows.append({**row, "share": explained_share(documents)})
            print(rows[-1], file=sys.stderr)
    return rows


def starts() -> list[dict[str, Any]]:
    """Accuracy of a network for each start."""
    rows = []
    for corpus, (count, tests) in TRANSFERS.items():
        train = read(corpus, "train", count)
        for start, least in STARTS.items():
            with patch.object(run_probes, "LEAST_INFORMATION", least):
                model = fitted(train, settings())
            for test in tests:
                documents = read(test, "test", TEST)
                figures = {"documents": len(documents), "accuracy": accuracy_on(model, documents)}
                rows.append({"trained_on": corpus, "start": start, "tested_on": test, **figures})
                print(rows[-1], file=sys.stderr)
    return rows


def with_mistakes(documents: Documents, share: float) -> Documents:
    """The same documents, a share of them with a label drawn from all."""
    draw, names = np.random.default_rng(SEED), documents.class_names
    wrong, drawn = draw.random(len(documents)) < share, draw.integers(len(names), size=len(documents))
    own = [str(label) for label in documents.labels or []]
    labels = [names[place] if is_wrong else label for label, is_wrong, place in zip(own, wrong, drawn, strict=True)]
    return Documents(documents.texts, None, labels, f"{documents.name}, {share:.0%} at random")


def mistakes() -> list[dict[str, Any]]:
    """Accuracy on right labels after training on some wrong ones."""
    corpus, each, shares = MISTAKES
    whole = read_documents(f"{corpus}:train", DataSettings(), require_labels=True)
    train, test = subsample_classes(whole, each, SEED), read(corpus, "test", TEST)
    rows = []
    for share, method in product(shares, ("linear", "masker")):
        model = fitted(with_mistakes(train, share), build_settings({"training": {"method": method, "seed": SEED}}))
        rows.append({"share": share, "method": method, "documents": len(train), "accuracy": accuracy_on(model, test)})
        print(rows[-1], file=sys.stderr)
    return rows


def mistakes_table(results: dict[str, Any]) -> str:
    """One row for each share of wrong labels."""
    lines = ["| labels drawn at random | linear | default |", "| --- | --- | --- |"]
    found = {(row["share"], row["method"]): f"{100 * row['accuracy']:.1f}" for row in results["mistakes"]}
    for share in dict.fromkeys(share for share, _ in found):
        lines.append(f"| {100 * share:.0f} % | {found[share, 'linear']} | {found[share, 'masker']} |")
    return "\n".join(lines) + "\n"


def information_table(results: dict[str, Any]) -> str:
    """One row for each corpus."""
    lines = ["| corpus | classes | documents: share of the labels' entropy explained |", "| --- | --- | --- |"]
    for corpus in dict.fromkeys(row["corpus"] for row in results["information"]):
        own = [row for row in results["information"] if row["corpus"] == corpus]
        shares = ", ".join(f"{row['documents']:,}: {100 * row['share']:.0f} %" for row in own)
        lines.append(f"| {corpus} | {own[-1]['classes']} {own[0]['kind']} | {shares} |")
    return "\n".join(lines) + "\n"


def starts_table(results: dict[str, Any]) -> str:
    """One row for each pair of corpora."""
    lines = ["| trained on | tested on | start: logistic regression | start: new head |", "| --- | --- | --- | --- |"]
    found = {(row["trained_on"], row["tested_on"], row["start"]): row["accuracy"] for row in results["starts"]}
    for trained, tested in dict.fromkeys((trained, tested) for trained, tested, _ in found):
        cells = [f"{100 * found[trained, tested, start]:.1f}" for start in STARTS]
        lines.append(f"| {trained} | {tested} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


PARTS = {"information": information, "starts": starts, "mistakes": mistakes}
TABLES = {
    "information": (information_table, ("information",)),
    "starts": (starts_table, ("starts",)),
    "mistakes": (mistakes_table, ("mistakes",)),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.head_start")
    parser.add_argument("--only", nargs="*", choices=list(PARTS))
    parser.add_argument("--page", action="store_true", help="write the page from the JSON, measure nothing")
    options = parser.parse_args()
    results: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in [] if options.page else options.only or PARTS:
        results[name] = PARTS[name]()
        results["provenance"] = provenance(seed=SEED, tokens=TOKENS, test=TEST)
        write_json(RESULTS, results)
    write_tables(results, PAGE, TABLES)


if __name__ == "__main__":
    main()
