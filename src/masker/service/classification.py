"""From texts to answers with a model, a batch at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from masker.detection.prediction import Prediction, predictions_of
from masker.documents.texts import Text
from masker.model import Model
from masker.service.batch_queue import Scored


class TrafficMonitor(Protocol):
    """Watches the p-values of the traffic for drift."""

    def observe(self, p_values: Sequence[float], labels: Sequence[Any]) -> object:
        """Take note of answered texts: their p-values and predicted labels."""

    def state(self) -> dict[str, Any]:
        """What it knows, JSON-ready."""


#: Finds the evidence for answers: takes a model, texts and their predictions, returns a dictionary for each.
EvidenceFinder = Callable[[Model, Sequence[Text], Sequence[Prediction]], list[dict[str, Any]]]


class Classified(NamedTuple):
    """The answer for one text."""

    prediction: Prediction
    probabilities: npt.NDArray[np.float64] | None  # (C,), none for a regression


class Scorer:
    """Scores batches, and tells a monitor about them."""

    def __init__(self, monitor: TrafficMonitor | None = None) -> None:
        self._monitor = monitor
        self._lock = threading.Lock()

    def __call__(self, model: Model, texts: list[Text]) -> Scored[Classified]:
        if model.detector is None:
            outputs = model.outputs(texts)
            numbers = [Prediction(float(value), None, None, None, None) for value in outputs.logits[:, 0]]
            return Scored([Classified(one, None) for one in numbers], _tokens(outputs.lengths))
        outputs = model.outputs(texts, None, model.detector.score.features)
        judged = model.detector.judge(outputs)
        predictions = predictions_of(judged, model.labels)
        if self._monitor is not None:
            with self._lock:
                self._monitor.observe(judged.p_values.tolist(), [one.label for one in predictions])
        rows = zip(predictions, judged.probabilities, strict=True)
        return Scored([Classified(*row) for row in rows], _tokens(outputs.lengths))


def _tokens(lengths: npt.NDArray[np.int64] | None) -> int:
    return 0 if lengths is None else int(lengths.sum())


def top_classes(model: Model, answer: Classified, count: int) -> list[dict[str, Any]]:
    """The ``count`` most probable classes."""
    if answer.probabilities is None:
        return []
    best = np.argsort(-answer.probabilities, kind="stable")[:count]
    labels = model.labels
    return [{"label": labels[place], "confidence": float(answer.probabilities[place])} for place in best]
