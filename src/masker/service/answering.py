"""From texts to answers with the model that is served, a batch at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from masker.detection.prediction import Prediction, predictions_of
from masker.documents.texts import Text
from masker.errors import DataError
from masker.model import Model
from masker.monitoring import DriftMonitor
from masker.service.service_metrics import ServiceMetrics


class TrafficMonitor(Protocol):
    """Watches the traffic for drift. Never called from two threads at once."""

    def observe(self, scores: Any, labels: Sequence[Any]) -> object:
        """Take note of answered texts, in order: their out-of-distribution scores and predicted labels."""

    def state(self) -> dict[str, Any]:
        """What it knows, JSON-ready."""


#: Makes the monitor of a model; ``None`` if it cannot have one.
MonitorMaker = Callable[[Model], TrafficMonitor | None]
#: Finds the evidence for answers, one JSON-ready dictionary for each text. Runs in a thread of its own.
EvidenceFinder = Callable[[Model, Sequence[Text], Sequence[Prediction]], list[dict[str, Any]]]


def drift_monitor(model: Model) -> TrafficMonitor | None:
    """Compares the traffic with the held-out texts of the model; a regression has none."""
    return None if model.detector is None else DriftMonitor.of(model.detector.calibration, model.labels)


@dataclass(frozen=True, eq=False)
class ServedModel:
    """A model in service, since when, and what watches its traffic."""

    model: Model
    monitor: TrafficMonitor | None = None
    opened: datetime = field(default_factory=partial(datetime.now, UTC))
    lock: threading.Lock = field(default_factory=threading.Lock)  # of the monitor

    def drift(self) -> dict[str, Any] | None:
        """What the monitor sees; ``None`` without one."""
        if self.monitor is None:
            return None
        with self.lock:
            return self.monitor.state()

    @property
    def longest(self) -> int | None:
        """Tokens of a text that are read; ``None`` if windows read all of them."""
        return self.model.max_length if self.model.settings.model.overlap is None else None


class Classified(NamedTuple):
    """The answer for one text."""

    prediction: Prediction
    probabilities: npt.NDArray[np.float64] | None  # (C,), none for a regression


class Scorer:
    """Scores batches, counts them, and tells the monitor about them."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        self._metrics = metrics

    def __call__(self, served: ServedModel, texts: list[Text]) -> list[Classified]:
        model, detector = served.model, served.model.detector
        outputs = model.outputs(texts, None, () if detector is None else detector.score.features)
        self._metrics.count_batch(len(texts), 0 if outputs.lengths is None else int(outputs.lengths.sum()))
        if detector is None:
            numbers = [Prediction(float(value), None, None, None, None) for value in outputs.logits[:, 0]]
            self._metrics.count_numbers(len(numbers))
            return [Classified(prediction, None) for prediction in numbers]
        judged = detector.judge(outputs)
        predictions = predictions_of(judged, model.labels)
        self._metrics.count_predictions(predictions)
        if served.monitor is not None:
            with served.lock, suppress(DataError):  # it takes finite scores only; the answer does not depend on it
                served.monitor.observe(judged.scores, [prediction.label for prediction in predictions])
        return list(map(Classified, predictions, judged.probabilities))


def top_classes(model: Model, answer: Classified, count: int) -> list[dict[str, Any]]:
    """The ``count`` most probable classes; none for a regression."""
    if answer.probabilities is None:
        return []
    best = np.argsort(-answer.probabilities, kind="stable")[:count]
    labels = model.labels
    return [{"label": labels[place], "confidence": float(answer.probabilities[place])} for place in best]
