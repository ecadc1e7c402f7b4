"""What a training promises about rejection and labels, for ``--plan``, the summary and ``masker.json``."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from masker.config import Settings
from masker.detection.conformal import INTERVAL_SHARE, promised_rate, rate_interval
from masker.documents import Documents
from masker.inference.windows import document_labels
from masker.registry import METHODS
from masker.training.decisions import decisions_of
from masker.training.run import TrainingRun


def plan_training(documents: Documents, classes: Sequence[str], settings: Settings) -> dict[str, str]:
    """The decisions and promises of a training on these documents, without training."""
    with tempfile.TemporaryDirectory() as work:
        return all_decisions(TrainingRun(documents, classes, settings, Path(work), "cpu"))


def all_decisions(run: TrainingRun) -> dict[str, str]:
    """What was decided for the user, by subject: how to train, and what is promised."""
    decisions = decisions_of(run)
    if run.settings.model.head == "multi-label":
        decisions["labels"] = _labels(run)
    return {**decisions, "rejection": _rejection(run)} if run.classes else decisions


def _labels(run: TrainingRun) -> str:
    rule, calibrating = run.settings.detection, run.data.calibrating
    documents = int((document_labels(calibrating).sum(axis=1) > 0).sum()) if len(calibrating) else 0
    documents = min(documents, rule.held_out)
    if not documents:
        return "given at even odds; nothing is promised until 'masker calibrate' has set thresholds on other documents"
    each = (
        "a threshold for each label with enough documents, one for the others"
        if rule.class_conditional
        else "one threshold"
    )
    promised = promised_rate(documents, rule.missed_rate)
    return (
        f"{each}; misses at most {100 * promised:.3g} % of a text's labels on average ({documents} documents calibrate)"
    )


def _rejection(run: TrainingRun) -> str:
    settings, own = run.settings.detection, METHODS.get(run.settings.training.method).own_score
    score = f"score {own or settings.score}"
    if settings.rule == "published":
        return f"{score}; the published rule, which promises no rate"
    documents = min(_calibrating_documents(run), settings.held_out)
    if not documents:
        return f"{score}; nothing is rejected until 'masker calibrate' has set a threshold on other documents"
    promised = promised_rate(documents, settings.false_alarm_rate, settings.confidence)
    if settings.confidence is None:
        low, high = rate_interval(documents, settings.false_alarm_rate)
        sure = f"on average; for one model {100 * low:.1f} to {100 * high:.1f} %, {100 * INTERVAL_SHARE:.0f} % sure"
    else:
        sure = f"with {100 * settings.confidence:.6g} % confidence"
    group = " of each predicted class that has enough" if settings.class_conditional else ""
    return f"{score}; of known texts{group}, at most {100 * promised:.3g} % {sure} ({documents} documents calibrate)"


def _calibrating_documents(run: TrainingRun) -> int:
    calibrating = run.data.calibrating
    if run.data.folds is None:
        return calibrating.n_documents
    labels = document_labels(calibrating)
    if labels.ndim == 2:
        return len(labels)
    counts = np.bincount(labels)
    return int(counts[counts > 1].sum())  # the only document of a class is judged by no network that knows the class
