"""Scoring: label, confidence and OOD score against the pipeline of transformers, in bulk and one text at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.measure import Row, alternate, alternate_calls, compare
from benchmarks.setting import Setting
from masker.config import build_settings
from masker.documents import Documents
from masker.model import Model
from masker.modeling.devices import has_fast_bf16

DOCUMENTS = 256
LENGTH = 128
#: Enough for a tenth of them to choose a score.
SCORED_DOCUMENTS = 384
SHORT = "my order has not arrived yet, where is it?"

#: At least this many times as fast in bulk, on processors with bf16 and VNNI and on others.
BULK_GOALS = {
    True: {"PyTorch, bfloat16": 2.0, "ONNX, int8": 4.0},
    False: {"PyTorch, float32": 1.5, "ONNX, float32": 2.0, "ONNX, int8": 3.0},
}
#: At most this share of the pipeline's time for one text.
SINGLE_GOALS = {"PyTorch, bfloat16": 0.5, "ONNX, int8": 0.2}


def fast_bf16() -> bool:
    """Whether this processor multiplies bfloat16."""
    return has_fast_bf16(torch.device("cpu"))


def saved_model(setting: Setting, score: str = "max-prob", documents: int = 64) -> Path:
    """A model folder after a token amount of training: speed does not depend on how good a model is."""
    settings = build_settings(
        {
            "model": {"max_length": LENGTH},
            "training": {"method": "vanilla", "epochs": 1},
            "detection": {"score": score},
        }
    )
    some = setting.documents.take(range(documents))
    work = Path(tempfile.mkdtemp(prefix="masker-bench-"))
    train = Documents(some.texts, None, some.labels, "bench")
    return Model.fit(train, settings, work / "work", device="cpu").save(work / "model")


def exported_models(setting: Setting) -> tuple[Path, dict[str, Model]]:
    """A model folder with both graphs, and its models: all backends that make sense on this processor."""
    from masker.export import export_onnx

    folder = saved_model(setting)
    export_onnx(folder, int8=True)
    backends = {"PyTorch, float32": "torch", "PyTorch, bfloat16": "torch-bf16"}
    backends |= {"ONNX, float32": "onnx", "ONNX, int8": "onnx-int8"}
    if not fast_bf16():
        del backends["PyTorch, bfloat16"]
    return folder, {name: Model.open(folder, backend, "cpu") for name, backend in backends.items()}


def run(setting: Setting, rounds: int) -> list[Row]:
    from transformers import pipeline

    folder, models = exported_models(setting)
    texts = setting.documents.texts[:DOCUMENTS]
    theirs = pipeline("text-classification", model=str(folder), device="cpu", truncation=True)

    def pipeline_case(size: int) -> Callable[[], float]:
        def case() -> float:
            theirs(texts, batch_size=size)
            return len(texts)

        return case

    sizes = alternate({str(size): pipeline_case(size) for size in (1, 8, 32)}, 1)
    best = min(sizes, key=lambda size: sizes[size][0])
    bulk: dict[str, Callable[[], float]] = {"pipeline": pipeline_case(int(best))}
    single: dict[str, Callable[[], object]] = {"pipeline": lambda: theirs(SHORT)}
    for name, model in models.items():
        bulk[name] = lambda model=model: float(len(model.predict(texts)))
        single[name] = lambda model=model: model.predict([SHORT])
    # Bulk rounds are short and differ more than those of training, so there are more of them.
    many, one = alternate(bulk, rounds + 2), alternate_calls(single, 3 * rounds)
    goals = BULK_GOALS[fast_bf16()]
    against = "pipeline of transformers, its best batch size"
    rows = [
        compare(f"scoring in bulk, {name}", against, many["pipeline"], many[name], at_least=goals.get(name))
        for name in models
    ]
    rows += [
        compare(
            f"one short text (p50), {name}", "pipeline of transformers, one text", one[name], one["pipeline"],
            at_most=SINGLE_GOALS.get(name),
        )
        for name in models
    ]  # fmt: skip
    return [*rows, _score_share(setting, rounds)]


def _score_share(setting: Setting, rounds: int) -> Row:
    """A whole pass with the default score against one that needs the logits alone: what the score adds."""
    folder = saved_model(setting, score="auto", documents=SCORED_DOCUMENTS)
    texts = setting.documents.texts[:DOCUMENTS]
    plain, joint = Model.open(folder, device="cpu", score="max-prob"), Model.open(folder, device="cpu")
    cases: dict[str, Callable[[], float]] = {
        "logits": lambda: float(len(plain.predict(texts))),
        "auto": lambda: float(len(joint.predict(texts))),
    }
    seconds = alternate(cases, rounds)
    return compare(
        "scoring in bulk with score auto (1.15 = a score costs 15 %)", "score max-prob",
        seconds["auto"], seconds["logits"], at_most=1.15,
    )  # fmt: skip
