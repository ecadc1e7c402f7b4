"""Degenerate data, agreement of what should agree, and the promised rate of false alarms."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.trust_data import Rows, rows_of, write_rows
from benchmarks.trust_interruption import Place, empty
from benchmarks.trust_runs import run

#: What two ways to the same answer may differ by, in logits; decisions must be the same.
TOLERANCES = {"1 and 2 threads": 1e-4, "batches of 1 and 64": 1e-4, "PyTorch and ONNX": 1e-4}
RATES = (0.05, 0.1, 0.2)
DRAWS, CALIBRATION, TESTS = 20, 100, 500

LETTERS = "αβγδεζηθικλμ"  # unknown to the tokenizer

DEGENERATE: dict[str, Callable[[], Rows]] = {
    "all texts equal": lambda: [{**row, "text": "the same text"} for row in rows_of(30)],
    "one word a text": lambda: [{**row, "text": row["label"][0]} for row in rows_of(30)],
    "one word in all": lambda: [
        {**row, "text": "rocket " * (1 + number % 5)} for number, row in enumerate(rows_of(30))
    ],
    "no known word": lambda: [{**row, "text": LETTERS[number % 12]} for number, row in enumerate(rows_of(30))],
    "a class of one document": lambda: [*rows_of(30), {"text": "rain and wind today", "label": "weather"}],
    "one document a class": lambda: [{**row, "label": f"class {number}"} for number, row in enumerate(rows_of(30))],
    "two identical classes": lambda: [
        {"text": row["text"], "label": label} for row in rows_of(20) for label in ("one", "other")
    ],
    "one class": lambda: [{**row, "label": "space"} for row in rows_of(30)],
    "two documents": lambda: rows_of(2),
    "labels that differ in case": lambda: [
        {**row, "label": row["label"].title() if number % 2 else row["label"]} for number, row in enumerate(rows_of(30))
    ],
    "boolean labels": lambda: [{**row, "label": row["label"] == "space"} for row in rows_of(30)],  # type: ignore[dict-item]
    "labels 0.5 and 1.5": lambda: [{**row, "label": 0.5 + (row["label"] == "food")} for row in rows_of(30)],  # type: ignore[dict-item]
    "a text of 100,000 words": lambda: [{"text": "moon " * 100_000, "label": "space"}, *rows_of(30)],
}


def degenerate(place: Place) -> Iterator[dict[str, Any]]:
    """Training on data that nobody would choose: it trains, or says in a line why not."""
    for name, make in DEGENERATE.items():
        with empty(place.folder / "work") as work:
            data = write_rows(place.folder / "degenerate.jsonl", make())
            command = ["train", str(data), *place.training(work / "model", "--epochs", "1")[2:]]
            done = run(command, work)
            model = work / "model"
            finite = _finite(model) if done.code == 0 else None
            explained = done.code == 2 and done.last_line.startswith("masker: ") and "Traceback" not in done.stderr
            line = done.last_line.replace(str(place.folder), "…") if done.code else ""
            yield {"data": name, "code": done.code, "finite": finite, "explained": explained, "line": line}


def _finite(folder: Path) -> bool:
    """Whether all weights, and all statistics but thresholds that reject nothing, are numbers."""
    from safetensors.numpy import load_file

    files = sorted(folder.glob("*.safetensors"))
    return all(
        bool(np.isfinite(array).all())
        for file in files
        for name, array in load_file(file).items()
        if array.dtype.kind == "f" and "threshold" not in name
    )


def in_fork(work: Callable[[], Any], note: Path) -> Any:
    """What a function returns in a process of its own: this one must not compute, as it forks."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            note.write_text(json.dumps(work()), encoding="utf-8")
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0, "the process failed; its error is above"
    return json.loads(note.read_text(encoding="utf-8"))


def agreement(place: Place) -> Iterator[dict[str, Any]]:
    """Logits and decisions of the same texts, computed in two ways."""
    with empty(place.folder / "work") as work:
        done = run(["export", str(place.folder / "model"), "--output", str(work / "exported")], work)
        assert done.code == 0, done.stderr
        folders = {"torch": str(place.folder / "model"), "onnx": str(work / "exported")}
        found = in_fork(lambda: _answers(folders), place.folder / "answers.json")
    for name, most in TOLERANCES.items():
        one, other = found[name]
        difference = float(np.abs(np.array(one["logits"]) - np.array(other["logits"])).max())
        yield {
            "ways": name,
            "texts": len(one["logits"]),
            "difference": difference,
            "tolerance": most,
            "within": difference <= most,
            "same_decisions": one["decisions"] == other["decisions"],
        }


def _answers(folders: dict[str, str]) -> dict[str, list[dict[str, Any]]]:
    import torch

    from masker import Model

    texts = [row["text"] for row in rows_of(128, seed=7)]

    def answer(model: Any, size: int = 64) -> dict[str, Any]:
        parts = [texts[at : at + size] for at in range(0, len(texts), size)]
        logits = [model.outputs(part).logits.tolist() for part in parts]
        return {
            "logits": [row for part in logits for row in part],
            "decisions": [[one.label, one.is_ood] for part in parts for one in model.predict(part)],
        }

    model = Model.open(folders["torch"], device="cpu")
    plain = answer(model)
    ones = answer(model, 1)
    exported = answer(Model.open(folders["onnx"]))
    torch.set_num_threads(2)
    threads = answer(model)
    return dict(zip(TOLERANCES, ([plain, threads], [plain, ones], [plain, exported]), strict=True))


def promise(place: Place) -> Iterator[dict[str, Any]]:
    """The rate of false alarms on new texts, over draws of the texts that the model is calibrated on."""
    for rate in RATES:
        found = in_fork(lambda rate=rate: _false_alarms(str(place.folder / "model"), rate), place.folder / "rates.json")  # type: ignore[misc]
        mean, spread = float(np.mean(found)), float(np.std(found, ddof=1) / DRAWS**0.5)
        yield {
            "promised": rate,
            "draws": DRAWS,
            "calibration": CALIBRATION,
            "tests": TESTS,
            "mean": mean,
            "standard_error": spread,
            "kept": mean <= rate + 2 * spread,
        }


def _false_alarms(folder: str, rate: float) -> list[float]:
    from masker import Model

    model = Model.open(folder, device="cpu")
    rates = []
    for draw in range(DRAWS):
        calibration = [row["text"] for row in rows_of(CALIBRATION, seed=1000 + draw)]
        tests = [row["text"] for row in rows_of(TESTS, seed=2000 + draw)]
        judged = model.calibrate(calibration, None, false_alarm_rate=rate).predict(tests)
        rates.append(float(np.mean([one.is_ood for one in judged])))
    return rates
