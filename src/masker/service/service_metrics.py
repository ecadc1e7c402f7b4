"""What Prometheus sees.

One process counts in memory. Several workers count in files of one folder, ``PROMETHEUS_MULTIPROC_DIR``, and whichever
is asked adds them up.
"""

from __future__ import annotations

import os
from collections import Counter as Tally
from collections.abc import Sequence
from typing import Any

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

from masker.detection.prediction import Prediction

#: Where prometheus_client keeps the counts of several processes.
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"

disable_created_metrics()  # type: ignore[no-untyped-call]  # a time of creation for every series would double what is sent

_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_TEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_TOKENS = (16, 64, 256, 1024, 4096, 16384, 65536)
_SHARES = tuple(round(0.05 * step, 2) for step in range(1, 21))


class ServiceMetrics:
    """The counts of one service."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        own = self._registry = CollectorRegistry()
        self._requests = Counter("masker_requests", "Requests answered.", ["path", "status"], registry=own)
        self._seconds = Histogram(
            "masker_request_seconds", "From request to answer.", ["path"], buckets=_SECONDS, registry=own
        )
        self._batch_texts = Histogram("masker_batch_texts", "Texts scored together.", buckets=_TEXTS, registry=own)
        self._batch_tokens = Histogram("masker_batch_tokens", "Tokens scored together.", buckets=_TOKENS, registry=own)
        self._texts = Counter("masker_texts", "Texts answered.", ["label", "rejected"], registry=own)
        self._p_values = Histogram(
            "masker_p_value",
            "P-values of the answers: the out-of-distribution score among those of held-out texts, 0 = strangest.",
            buckets=_SHARES,
            registry=own,
        )
        self._queue = self._gauge("masker_queue_texts", "Texts that wait.", "livesum")
        self._reloads = Counter("masker_reloads", "Reloads of the model.", ["result"], registry=own)
        self._drift = {
            name: self._gauge(f"masker_drift_{name}", f"{text} The largest of all workers.", "livemax")
            for name, text in (
                ("alarm", "Whether the traffic differs from the held-out texts."),
                ("evidence", "How strongly it differs."),
                ("foreign_share", "Estimated share of foreign texts."),
            )
        }

    def _gauge(self, name: str, text: str, mode: Any) -> Gauge:
        return Gauge(name, text, registry=self._registry, multiprocess_mode=mode)

    def count_request(self, path: str, status: int, seconds: float) -> None:
        self._requests.labels(path, status).inc()
        self._seconds.labels(path).observe(seconds)

    def count_batch(self, texts: int, tokens: int) -> None:
        self._batch_texts.observe(texts)
        self._batch_tokens.observe(tokens)

    def count_predictions(self, predictions: Sequence[Prediction]) -> None:
        for (label, rejected), count in Tally((one.label, one.is_ood) for one in predictions).items():
            self._texts.labels(str(label), "yes" if rejected else "no").inc(count)
        for one in predictions:
            self._p_values.observe(one.p_value or 0.0)

    def count_numbers(self, count: int) -> None:
        """Count the answers of a regression."""
        self._texts.labels("", "no").inc(count)

    def count_reload(self, result: str) -> None:
        self._reloads.labels(result).inc()

    def note(self, waiting: int, drift: dict[str, Any] | None) -> None:
        """Take down what changes by itself."""
        self._queue.set(waiting)
        for name, gauge in self._drift.items():
            value = (drift or {}).get(name)
            value = value.get("value") if isinstance(value, dict) else value  # an estimate with its interval
            if isinstance(value, (bool, int, float)):
                gauge.set(float(value))

    def _together(self) -> CollectorRegistry:
        """The counts of all workers."""
        if FOLDER_VARIABLE not in os.environ:
            return self._registry
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return together

    def render(self) -> bytes:
        """What ``/metrics`` answers."""
        return generate_latest(self._together())

    def traffic(self, path: str) -> dict[str, int]:
        """Requests to a path, texts and rejected texts since the start."""
        samples = [sample for family in self._together().collect() for sample in family.samples]

        def total(name: str, **labels: str) -> int:
            wanted = labels.items()
            return int(sum(one.value for one in samples if one.name == name and wanted <= one.labels.items()))

        return {
            "requests": total("masker_requests_total", path=path),
            "texts": total("masker_texts_total"),
            "rejected": total("masker_texts_total", rejected="yes"),
        }
