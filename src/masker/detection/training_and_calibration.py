"""Training and calibrating together: documents set aside calibrate the detector, or out-of-fold outputs do.

:mod:`masker.training.cross_fitting` says when and why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from masker.detection.auto import Observed
from masker.detection.detector import Detector
from masker.detection.fitting import DetectorFitter
from masker.inference.backend import Backend, Floats
from masker.inference.windows import document_labels
from masker.metrics import accuracy
from masker.training.cross_fitting import BackendMean
from masker.training.run import TrainingRun


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


def cross_fit(run: TrainingRun, train: Callable[[TrainingRun], Backend]) -> Calibrated:
    """Train a network without each fold, let it judge the fold, and average the networks.

    If training lost more documents than chance explains, the probes that the networks started from are the model.
    """
    mean, observed, start = _fit_folds(run, train)
    if start is not None and run.keeps_start(observed.labels, observed.logits, start):
        mean, observed, _ = _fit_folds(run, TrainingRun.fit_start)
    run.validation = {"accuracy": accuracy(observed.labels, observed.logits.argmax(axis=1))}
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
        counts = np.bincount(document_labels(part.data.train), minlength=backend.n_outputs)
        # The only document of a class comes to a network that cannot know the class.
        known = counts[document_labels(part.data.validation)] > 0
        if known.any():
            parts.append(_fitter(run, backend).observe(part.data.train, part.data.validation.take_documents(known)))
            starts += [] if part.start_logits is None else [part.start_logits[known]]
        mean.add(backend)
    return mean, Observed.joined(parts), np.concatenate(starts) if starts else None
