"""``python -m benchmarks.promise``: is the promised rate of false alarms kept on real texts?

For each corpus a model is trained on some of its training documents, with nothing set but the length. The others are
dealt ``DRAWS`` times into documents that calibrate and documents that are new, which are drawn alike, as the promise
asks for. Writes ``results/promise.json``, corpus by corpus, and the table of ``docs/reliability.md``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.drift_page import write_tables
from benchmarks.head_start import CORPORA
from benchmarks.trust_results import PAGE, ROOT
from masker.config import DataSettings, build_settings
from masker.detection.calibration import Calibration
from masker.documents import read_documents, subsample
from masker.documents.texts import texts_of
from masker.files import write_json
from masker.model import Model
from masker.provenance import provenance

RESULTS = ROOT / "results" / "promise.json"
DRAWS, SEED, TOKENS = 20, 0, 64
#: Documents to train on, to calibrate with and to judge; small corpora are divided in the same proportion.
TRAIN, CALIBRATE, NEW = 300, 200, 600
RATE, CONFIDENCE = 0.05, 0.95


def parts_of(count: int) -> tuple[int, int]:
    """How many of so many documents train and how many calibrate."""
    share = min(1.0, count / (TRAIN + CALIBRATE + NEW))
    return int(share * TRAIN), int(share * CALIBRATE)


def rejected(
    scores: npt.NDArray[np.float64], predicted: npt.NDArray[np.int64], calibrating: int, confidence: float | None
) -> list[float]:
    """The share of new documents that is rejected in each draw of those that calibrate."""
    rates, classes = [], int(predicted.max()) + 1
    for seed in range(DRAWS):
        order = np.random.default_rng(seed).permutation(len(scores))
        held_out, new = order[:calibrating], order[calibrating:]
        rule = Calibration.fit(
            scores[held_out], predicted[held_out], classes, RATE, class_conditional=False, confidence=confidence
        )
        rates.append(float(rule.rejects(scores[new], predicted[new]).mean()))
    return rates


def measure(corpus: str) -> dict[str, Any]:
    """One row: the documents, and the shares that were rejected."""
    whole = read_documents(f"{corpus}:train", DataSettings(), require_labels=True)
    documents = subsample(whole, TRAIN + CALIBRATE + NEW, SEED)
    training, calibrating = parts_of(len(documents))
    order = np.random.default_rng(SEED).permutation(len(documents))
    settings = build_settings({"training": {"seed": SEED}, "model": {"max_length": TOKENS}})
    with tempfile.TemporaryDirectory(prefix="masker-promise-") as folder:
        model = Model.fit(documents.take(order[:training].tolist()), settings, Path(folder) / "work", device="cpu")
    judged = model.judge(texts_of(documents.take(order[training:].tolist())))
    found = {
        name: rejected(judged.scores, judged.predicted, calibrating, confidence)
        for name, confidence in (("average", None), ("sure", CONFIDENCE))
    }
    counts = {"trained": training, "calibrating": calibrating, "new": len(documents) - training - calibrating}
    return {"corpus": corpus, "classes": len(model.classes), **counts, **found}


def promise_table(results: dict[str, Any]) -> str:
    """One line for each corpus."""
    head = ["corpus", "calibrate / new", "rejected of new documents, mean of 20 draws", "promised with 95 % confidence"]
    lines = [head, ["---"] * len(head)]
    for row in results["rows"]:
        average, sure = row["average"], row["sure"]
        error = 100 * np.std(average, ddof=1) / len(average) ** 0.5
        above = sum(rate > RATE for rate in sure)
        lines.append(
            [
                row["corpus"],
                f"{row['calibrating']} / {row['new']}",
                f"{100 * np.mean(average):.1f} % ± {error:.1f}",
                f"{100 * np.mean(sure):.1f} %; {above} of {len(sure)} draws above 5 %",
            ]
        )
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


TABLES = {"promise on corpora": (promise_table, ("rows",))}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.promise")
    parser.add_argument("--page", action="store_true", help="write the page from the JSON, measure nothing")
    options = parser.parse_args()
    results: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if not options.page:
        rows: list[dict[str, Any]] = []
        for corpus in (name for names in CORPORA.values() for name in names):
            rows.append(measure(corpus))
            print(rows[-1], file=sys.stderr)
            results = {"rows": rows, "provenance": provenance(seed=SEED, tokens=TOKENS, draws=DRAWS)}
            write_json(RESULTS, results)
    write_tables(results, PAGE, TABLES)


if __name__ == "__main__":
    main()
