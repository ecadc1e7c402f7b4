"""Every speed trick on and off: what is worth less than 5 % does not stay."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.measure import Row, alternate, alternate_calls, compare
from benchmarks.scoring import SHORT, fast_bf16, saved_model
from benchmarks.setting import Setting, settings_for
from benchmarks.training import Stepper, our_trainer
from masker.export import export_onnx
from masker.model import Model
from masker.training.fast_dropout import fast_dropout_in

WORTH = 1.05
DOCUMENTS = 96
STEPS = 3


def training_rows(setting: Setting, rounds: int) -> list[Row]:
    """A vanilla step with and without cheap dropout masks."""
    stepper, steps = vanilla_steps(setting)
    cases: dict[str, Callable[[], float]] = {
        "cheap": lambda: steps(fast_dropout_in(stepper.trainer.model.classifier)),
        "plain": lambda: steps(nullcontext()),
    }
    times = alternate(cases, rounds)
    return [compare("vanilla step, cheap dropout masks", "without", times["plain"], times["cheap"], at_least=WORTH)]


def vanilla_steps(setting: Setting) -> tuple[Stepper, Callable[[AbstractContextManager[None]], float]]:
    """Some steps on the same documents; they run inside a context."""
    stepper = Stepper(our_trainer(setting, settings_for("vanilla")))
    collator = stepper.trainer.collator
    batches = [collator([setting.encoded[row] for row in rows]) for rows in list(stepper.trainer.batches)[:STEPS]]

    def steps(context: AbstractContextManager[None]) -> float:
        with context:
            for batch in batches:
                stepper.step(batch)
        return len(batches)

    return stepper, steps


@contextmanager
def one_after_the_other() -> Iterator[None]:
    """Inside the context batches do not run side by side."""
    with (
        patch("masker.inference.batching.side_by_side", lambda *_: False),
        patch("masker.inference.onnx_backend.side_by_side", lambda *_: False),
    ):
        yield


class OnOff:
    """Pairs of cases, one with and one without a trick, measured in turns."""

    def __init__(self, texts: list[str], rounds: int) -> None:
        self.texts, self.rounds = texts, rounds

    def bulk(self, what: str, on: Model, off: Model, context: Any = nullcontext) -> Row:
        def without() -> float:
            with context():
                return float(len(off.predict(self.texts)))

        times = alternate({"on": lambda: float(len(on.predict(self.texts))), "off": without}, self.rounds)
        return compare(f"scoring in bulk, {what}", "without", times["off"], times["on"], at_least=WORTH)

    def single(self, what: str, on: Model, off: Model) -> Row:
        cases = {"on": lambda: on.predict([SHORT]), "off": lambda: off.predict([SHORT])}
        times = alternate_calls(cases, 2 * self.rounds)
        return compare(f"one short text (p50), {what}", "without", times["off"], times["on"])


def torch_rows(folder: Path, measure: OnOff) -> list[Row]:
    plain, whole = (Model.open(folder, device="cpu") for _ in range(2))
    backend: Any = whole.backend
    backend._run = backend.classifier
    rows = [
        measure.bulk("last layer for the document token only, PyTorch", plain, whole),
        measure.bulk("batches side by side, PyTorch", plain, plain, one_after_the_other),
    ]
    if fast_bf16():
        packed = Model.open(folder, "torch-bf16", "cpu")
        with patch("masker.inference.torch_backend.pack_linears"):
            unpacked = Model.open(folder, "torch-bf16", "cpu")
        rows.append(measure.bulk("packed weights, PyTorch, bfloat16", packed, unpacked))
        rows.append(measure.single("packed weights, PyTorch, bfloat16", packed, unpacked))
    return rows


def exported_without(folder: Path, trick: str | None) -> Path:
    """A copy of a model folder with both graphs, made without one of the functions of the export."""
    target = Path(tempfile.mkdtemp(prefix="masker-bench-")) / "model"
    shutil.copytree(folder, target)
    with nullcontext() if trick is None else patch(f"masker.export.graph.{trick}", lambda *_, **__: 0):
        export_onnx(target, int8=True)
    return target


def onnx_rows(folder: Path, measure: OnOff, texts: list[str]) -> list[Row]:
    names = {"cut_document_token_early": "early document token", "split_layer_norms": "split layer norms"}
    backends = {"onnx": "ONNX, float32", "onnx-int8": "ONNX, int8"}
    whole = exported_without(folder, None)
    without = {trick: exported_without(folder, trick) for trick in (*names, "smooth_activations")}
    rows = []
    for backend, label in backends.items():
        on = Model.open(whole, backend)
        rows.append(measure.bulk(f"batches side by side, {label}", on, on, one_after_the_other))
        for trick, name in names.items():
            rows.append(measure.bulk(f"{name}, {label}", on, Model.open(without[trick], backend)))
    reference = Model.open(folder, device="cpu")
    return [*rows, _smoothing_row(reference, whole, without["smooth_activations"], texts)]


def _smoothing_row(reference: Model, on: Path, off: Path, texts: list[str]) -> Row:
    """The share of labels that 8 bits leave as they are; a ratio of shares, not of times."""

    def labels(model: Model) -> Any:
        return np.array([prediction.label for prediction in model.predict(texts)])

    expected = labels(reference)
    shares = [float((labels(Model.open(folder, "onnx-int8")) == expected).mean()) for folder in (on, off)]
    ratio = round(shares[0] / shares[1], 3)
    detail = f"{shares[0]:.1%} against {shares[1]:.1%} of {len(texts)} labels"
    what = "labels that int8 leaves unchanged, smoothed activations"
    return Row(what, "without", "at least 1", ratio >= 1, ratio, ratio, ratio, detail)


def run(setting: Setting, rounds: int) -> list[Row]:
    folder = saved_model(setting)
    measure = OnOff(setting.documents.texts[:DOCUMENTS], rounds)
    rows = [*training_rows(setting, rounds), *torch_rows(folder, measure)]
    return [*rows, *onnx_rows(folder, measure, setting.documents.texts)]
