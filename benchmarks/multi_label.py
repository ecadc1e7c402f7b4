"""``python -m benchmarks.multi_label``: the 90 topics of Reuters, MASKER beside 1-vs-rest logistic regression.

Both read the same documents, 128 tokens of each. Writes ``results/multi_label.json`` and the table of
``docs/multi-label.md``; ``--page`` only writes the page. ``--documents`` and ``--test`` draw fewer, for a slow machine.

The promise is about the average over draws, which one model cannot show. So it is measured over draws, too: the test
documents are halved at random, one half sets the threshold, and the other half is measured.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.drift_page import write_tables
from masker.config import DataSettings, build_settings
from masker.detection.evaluation import Resampling, evaluate_label_sets
from masker.detection.label_rule import LabelRule, true_labels_of
from masker.documents import Documents, read_documents, subsample
from masker.documents.texts import texts_of
from masker.files import write_json
from masker.labels import label_matrix
from masker.metrics import micro_f1, missed_shares
from masker.model import Model
from masker.provenance import provenance

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "multi_label.json"
PAGE = ROOT / "docs" / "multi-label.md"

METHODS = {"linear": "1-vs-rest logistic regression on frozen features", "masker": "MASKER"}
TOKENS, SEED, DRAWS = 128, 0, 200


def read_part(split: str, count: int | None) -> Documents:
    """Documents of a split of Reuters with all their topics."""
    documents = read_documents(f"reuters:{split}", DataSettings(), require_labels=True, head="multi-label")
    return documents if count is None else subsample(documents, count, SEED)


def known_only(test: Documents, classes: list[str]) -> Documents:
    """Documents all of whose labels occur in training: a drawn part may lack the rarest."""
    known = set(classes)
    return test.take([row for row, labels in enumerate(test.labels or []) if known.issuperset(labels)])


def over_draws(logits: Any, true: Any, missed_rate: float) -> dict[str, Any]:
    """Means over random halves of what a rule from one half gives in the other."""
    draw = np.random.default_rng(SEED)
    figures: dict[str, list[float]] = {"missed_share": [], "micro_f1": []}
    for _ in range(DRAWS):
        order = draw.permutation(len(true))
        held_out, rest = order[: len(true) // 2], order[len(true) // 2 :]
        found = true_labels_of(logits[held_out], true[held_out])
        rule = LabelRule.fit(found, true.shape[1], missed_rate, class_conditional=False)
        given = rule.gives(logits[rest])
        figures["missed_share"].append(float(missed_shares(true[rest], given).mean()))
        figures["micro_f1"].append(micro_f1(true[rest], given))
    means = {
        name: {"mean": float(np.mean(values)), "standard_error": float(np.std(values) / np.sqrt(DRAWS))}
        for name, values in figures.items()
    }
    return {"draws": DRAWS, "held_out": len(true) // 2, **means}


def measure(method: str, train: Documents, test: Documents) -> dict[str, Any]:
    """Train, and evaluate with the labels that keep the promise and those at even odds."""
    settings = build_settings({"training": {"method": method, "seed": SEED}, "model": {"max_length": TOKENS}})
    start, spent = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory(prefix="masker-labels-") as work:
        model = Model.fit(train, settings, Path(work) / "work", device="cpu")
    took = {"seconds": round(time.perf_counter() - start), "cpu_seconds": round(time.process_time() - spent)}
    test = known_only(test, model.classes)
    detector, true = model.require_detector(), label_matrix(test.labels or [], model.classes)
    outputs = model.outputs(texts_of(test), None, detector.score.features)
    judged, labels = detector.judge(outputs), cast("list[list[str]]", test.labels)
    figures = evaluate_label_sets(detector, model.classes, judged, labels, {}, Resampling(1000, SEED))
    halves = over_draws(outputs.logits, true, settings.detection.missed_rate)
    shares = {"documents": len(test), "labels": len(model.classes)}
    return {**shares, **figures, **took, "over_draws": halves, "decisions": model.provenance["decisions"]}


def figures_table(results: dict[str, Any]) -> str:
    """F1 and missed share of each system, with labels given by the promise and at even odds."""
    rows = ["| | labels given | micro F1 | macro F1 | missed share |", "| --- | --- | --- | --- | --- |"]
    for method, title in _measured(results):
        found = results[method]
        kinds = {"label_sets": f"promised {_percent(found['missed']['asked'])} missed", "at_even_odds": "at even odds"}
        for part, kind in kinds.items():
            cells = [_interval(found[part][name]) for name in ("micro_f1", "macro_f1", "missed_share")]
            rows.append(f"| {title} | {kind} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def draws_table(results: dict[str, Any]) -> str:
    """The missed share over draws beside the promise, and what keeping it costs."""
    rows = ["| | promised | missed share | micro F1 |", "| --- | --- | --- | --- |"]
    for method, title in _measured(results):
        over, asked = results[method]["over_draws"], results[method]["missed"]["asked"]
        cells = [
            f"{100 * over[name]['mean']:.1f} ± {100 * over[name]['standard_error']:.1f}"
            for name in ("missed_share", "micro_f1")
        ]
        rows.append(f"| {title} | {100 * asked:.3g} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


TABLES = {"reuters": (figures_table, ("provenance",)), "draws": (draws_table, ("provenance",))}


def _measured(results: dict[str, Any]) -> list[tuple[str, str]]:
    return [(method, title) for method, title in METHODS.items() if method in results]


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"


def _interval(figure: dict[str, float]) -> str:
    return f"{100 * figure['value']:.1f} ({100 * figure['low']:.1f}–{100 * figure['high']:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.multi_label")
    parser.add_argument("--documents", type=int, help="training documents, drawn at random; default: all 7,770")
    parser.add_argument("--test", type=int, help="test documents, drawn at random; default: all 3,019")
    parser.add_argument("--page", action="store_true", help="write the page from the JSON, measure nothing")
    options = parser.parse_args()
    if not options.page:
        train, test = read_part("train", options.documents), read_part("test", options.test)
        results: dict[str, Any] = {}
        for method in METHODS:
            results[method] = measure(method, train, test)
            results["provenance"] = provenance(seed=SEED, train=len(train), test=len(test), tokens=TOKENS)
            write_json(RESULTS, results)  # after each, so that an interruption loses no finished one
            print(f"{method}: {results[method]['seconds']} s", file=sys.stderr)
    write_tables(json.loads(RESULTS.read_text(encoding="utf-8")), PAGE, TABLES)


if __name__ == "__main__":
    main()
