"""Counts as Prometheus reads them, of one process and of several."""

from __future__ import annotations

import os
import subprocess
import sys

from masker import Prediction
from masker.service.service_metrics import FOLDER_VARIABLE, ServiceMetrics


def test_answers_batches_and_drift_are_counted():
    metrics = ServiceMetrics()
    metrics.count_batch(3, 40)
    metrics.count_predictions(
        [
            Prediction("a", 0.9, 0.5, 1.0, False),
            Prediction("a", 0.9, 0.01, 9.0, True),
            Prediction(7, 0.9, 1.0, 0.0, False),
        ]
    )
    metrics.count_numbers(2)
    metrics.note(5, {"alarm": False, "evidence": 0.25, "foreign_share": None, "series": []})
    text = metrics.render().decode()
    for line in (
        'masker_texts_total{label="a",rejected="no"} 1.0',
        'masker_texts_total{label="a",rejected="yes"} 1.0',
        'masker_texts_total{label="7",rejected="no"} 1.0',
        'masker_texts_total{label="",rejected="no"} 2.0',
        "masker_batch_texts_sum 3.0",
        "masker_batch_tokens_sum 40.0",
        'masker_p_value_bucket{le="0.05"} 1.0',
        'masker_p_value_bucket{le="0.5"} 2.0',
        "masker_queue_texts 5.0",
        "masker_drift_alarm 0.0",
        "masker_drift_evidence 0.25",
    ):
        assert line in text
    assert "_created" not in text


def test_the_counts_of_several_workers_are_added_up(tmp_path):
    script = (
        "from masker.service.service_metrics import ServiceMetrics\n"
        "metrics = ServiceMetrics()\n"
        "metrics.count_batch(2, 10)\n"
        "metrics.note(3, {'alarm': True})\n"
        "print(metrics.render().decode())\n"
    )
    environment = {**os.environ, FOLDER_VARIABLE: str(tmp_path)}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
    assert "masker_batch_texts_sum 4.0" in done.stdout
    assert "masker_drift_alarm 1.0" in done.stdout
