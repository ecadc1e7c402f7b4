"""Training and calibrating together: documents set aside calibrate the detector, or out-of-fold outputs do.

:mod:`masker.training.cross_fitting` says when and why.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from masker.config import Settings
from masker.detection.arrays import Labels
from masker.detection.auto import Observed
from masker.detection.conformal import INTERVAL_SHARE, promised_rate, rate_interval
from masker.detection.detector import Detector
from masker.detection.fitting import DetectorFitter
from masker.documents import Documents
from masker.inference.backend import Backend, Floats
from masker.inference.windows import document_labels
from masker.registry import METHODS
from masker.training.cross_fitting import BackendMean
from masker.training.decisions import decisions_of
from masker.training.run import TrainingRun
from masker.training.validation_figure import validation_figure


class Calibrated(NamedTuple):
    """A trained network with its calibrated detector; a regression has none."""

    backend: Backend
    detector: Detector | None


def train_and_calibrate(run: TrainingRun, train: Callable[[TrainingRun], Backend]) -> Calibrated:
    """Train a method's network and fit its detector."""
    data = run.data
    if data.folds is not None:
        return cross_fit(run, train)
    backend = train(run)
    if not run.classes:
        return Calibrated(backend, None)
    fitter = _fitter(run, backend)
    return Calibrated(backend, fitter.fit(data.train, data.validation, data.calibration, run.train_outputs))


def all_decisions(run: TrainingRun) -> dict[str, str]:
    """What was decided for the user, by subject: how to train, and what is promised about the rejection."""
    decisions = decisions_of(run)
    if run.settings.model.head == "multi-label":
        decisions["labels"] = _labels(run)
    return {**decisions, "rejection": _rejection(run)} if run.classes else decisions


def plan_training(documents: Documents, classes: Sequence[str], settings: Settings) -> dict[str, str]:
    """The decisions that a training on these documents would take, without training."""
    with tempfile.TemporaryDirectory() as work:
        return all_decisions(TrainingRun(documents, classes, settings, Path(work), "cpu"))


def _labels(run: TrainingRun) -> str:
    rule, data = run.settings.detection, run.data
    held_out = (
        data.train if data.folds is not None else data.validation if data.calibration is None else data.calibration
    )
    documents = int((document_labels(held_out).sum(axis=1) > 0).sum()) if len(held_out) else 0
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
    data = run.data
    if data.folds is None:
        return (data.validation if data.calibration is None else data.calibration).n_documents
    labels = document_labels(data.train)
    if labels.ndim == 2:
        return len(labels)
    counts = np.bincount(labels)
    return int(counts[counts > 1].sum())


def _known_documents(train: Labels, held_out: Labels) -> npt.NDArray[np.bool_]:
    """(N,) held-out documents that calibrate.

    The only document of a class comes to a network that cannot know the class. Of several labels all but one may be
    known, and a promise about missed labels must not leave out those that are hard to know.
    """
    if train.ndim == 2:
        return np.ones(len(held_out), dtype=bool)
    return np.isin(held_out, train)


def cross_fit(run: TrainingRun, train: Callable[[TrainingRun], Backend]) -> Calibrated:
    """Train a network without each fold, let it judge the fold, and average the networks.

    If training lost more documents than chance explains, the probes that the networks started from are the model.
    """
    mean, observed, start = _fit_folds(run, train)
    if start is not None and run.keeps_start(observed.labels, observed.logits, start):
        mean, observed, _ = _fit_folds(run, TrainingRun.fit_start)
    run.validation = validation_figure(observed.labels, observed.logits, run.settings.model.head)
    backend = mean.result()
    return Calibrated(backend, _fitter(run, backend).fit_cross(run.data.train, observed))


def _fitter(run: TrainingRun, backend: Backend) -> DetectorFitter:
    return DetectorFitter(backend, run.tokenizer, run.keywords, run.settings)


def _fit_folds(
    run: TrainingRun, train: Callable[[TrainingRun], Backend]
) -> tuple[BackendMean, Observed, Floats | None]:
    """The mean of the networks, what they say of their folds, and what the probes they started from say."""
    mean, parts = BackendMean(), []
    starts: list[Floats] = []
    for part in run.folds():
        backend = train(part)
        run.keywords = part.keywords
        known = _known_documents(document_labels(part.data.train), document_labels(part.data.validation))
        if known.any():
            parts.append(_fitter(run, backend).observe(part.data.train, part.data.validation.take_documents(known)))
            starts += [] if part.start_logits is None else [part.start_logits[known]]
        mean.add(backend)
    return mean, Observed.joined(parts), np.concatenate(starts) if starts else None
