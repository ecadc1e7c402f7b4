"""Scoring: label, confidence and OOD score against the pipeline of transformers, in bulk and one text at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, alternate, alternate_calls, compare
from benchmarks.setting import Setting
from masker.config import build_settings
from masker.documents import Documents
from masker.model import Model

DOCUMENTS = 256
LENGTH = 128
#: Enough for a tenth of them to choose a score.
SCORED_DOCUMENTS = 384
SHORT = "my order has not arrived yet, where is it?"


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
    documents_of_it = Documents(some.texts, None, some.labels, "bench")
    model = Model.fit(documents_of_it, settings, work / "work", device="cpu")
    return model.save(work / "model")


def run(setting: Setting, rounds: int) -> list[Row]:
    from transformers import pipeline

    folder = saved_model(setting)
    texts = setting.documents.texts[:DOCUMENTS]
    theirs = pipeline("text-classification", model=str(folder), device="cpu", truncation=True)

    def pipeline_case(size: int) -> Callable[[], float]:
        def case() -> float:
            theirs(texts, batch_size=size)
            return len(texts)

        return case

    sizes = alternate({str(size): pipeline_case(size) for size in (1, 8, 32)}, 1)
    best = min(sizes, key=lambda size: sizes[size][0])

    models: dict[str, Model] = {
        "PyTorch, float32": Model.open(folder),
        "PyTorch, bfloat16": Model.open(folder, backend="torch-bf16"),
    }
    models |= _exported(folder)
    goals = {"PyTorch, bfloat16": (2.0, 0.5), "ONNX, int8": (4.0, 0.2)}

    bulk: dict[str, Callable[[], float]] = {"pipeline": pipeline_case(int(best))}
    single: dict[str, Callable[[], object]] = {"pipeline": lambda: theirs(SHORT)}
    for name, model in models.items():
        bulk[name] = lambda model=model: float(len(model.predict(texts)))
        single[name] = lambda model=model: model.predict([SHORT])
    # Bulk rounds are short and differ more than those of training, so there are more of them.
    many, one = alternate(bulk, rounds + 2), alternate_calls(single, 3 * rounds)
    rows = []
    for name in models:
        at_least = goals.get(name, (None, None))[0]
        rows.append(
            compare(
                f"scoring in bulk, {name}", f"pipeline, batches of {best}", many["pipeline"], many[name],
                at_least=at_least,
            )
        )  # fmt: skip
    for name in models:
        at_most = goals.get(name, (None, None))[1]
        rows.append(
            compare(f"one short text (p50), {name}", "pipeline, one text", one[name], one["pipeline"], at_most=at_most)
        )
    return [*rows, _score_share(setting, rounds)]


def _score_share(setting: Setting, rounds: int) -> Row:
    """A whole pass with the default score against one that gives logits alone: what the score adds."""
    folder = saved_model(setting, score="auto", documents=SCORED_DOCUMENTS)
    texts = setting.documents.texts[:DOCUMENTS]
    plain, joint = Model.open(folder, score="max-prob"), Model.open(folder)
    cases: dict[str, Callable[[], float]] = {
        "logits": lambda: float(len(plain.predict(texts))),
        "auto": lambda: float(len(joint.predict(texts))),
    }
    seconds = alternate(cases, rounds)
    return compare(
        "scoring in bulk with score auto (1.15 = a score costs 15 %)", "score max-prob",
        seconds["auto"], seconds["logits"], at_most=1.15,
    )  # fmt: skip


def _exported(folder: Path) -> dict[str, Any]:
    from masker.export.onnx import export_onnx

    export_onnx(folder)
    export_onnx(folder, int8=True)
    return {
        "ONNX, float32": Model.open(folder, backend="onnx"),
        "ONNX, int8": Model.open(folder, backend="onnx-int8"),
    }
