"""Training a network and calibrating its detector, on documents that were set aside or by cross-fitting.

:mod:`masker.training.cross_fitting` says when, and why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from masker.detection.arrays import Labels
from masker.detection.auto import Observed
from masker.detection.detector import Detector
from masker.detection.fitting import DetectorFitter
from masker.inference.backend import Backend, Floats
from masker.inference.windows import document_labels
from masker.training.cross_fitting import BackendMean
from masker.training.run import TrainingRun
from masker.training.validation_metric import validation_metric


class Trained(NamedTuple):
    """A trained network with its calibrated detector; a regression has none."""

    backend: Backend
    detector: Detector | None


def train_and_calibrate(run: TrainingRun, train: Callable[[TrainingRun], Backend]) -> Trained:
    """Train a method's network and fit its detector."""
    data = run.data
    if data.folds is not None:
        return cross_fit(run, train)
    backend = train(run)
    if not run.classes:
        return Trained(backend, None)
    fitter = _fitter(run, backend)
    return Trained(backend, fitter.fit(data.train, data.validation, data.calibration, run.train_outputs))


def cross_fit(run: TrainingRun, train: Callable[[TrainingRun], Backend]) -> Trained:
    """Train a network without each fold, let it judge the fold, and average the networks.

    If training lost more documents than chance explains, the model is made of the probes instead.
    """
    mean, observed, probes = _fit_folds(run, train)
    if probes is not None and run.keep_probe_if_better(observed.labels, observed.logits, probes):
        mean, observed, _ = _fit_folds(run, TrainingRun.fit_probe_only)
    run.validation = validation_metric(observed.labels, observed.logits, run.settings.model.head)
    backend = mean.result()
    return Trained(backend, _fitter(run, backend).fit_cross(run.data.train, observed))


def _fitter(run: TrainingRun, backend: Backend) -> DetectorFitter:
    return DetectorFitter(backend, run.tokenizer, run.keywords, run.settings)


def _fit_folds(
    run: TrainingRun, train: Callable[[TrainingRun], Backend]
) -> tuple[BackendMean, Observed, Floats | None]:
    """The mean of the networks, what they say of their folds, and the logits of their probes for these."""
    mean, parts = BackendMean(), []
    probes: list[Floats] = []
    for part in run.folds():
        backend = train(part)
        run.keywords = part.keywords
        known = _known_documents(document_labels(part.data.train), document_labels(part.data.validation))
        if known.any():
            parts.append(_fitter(run, backend).observe(part.data.train, part.data.validation.take_documents(known)))
            probes += [] if part.probe_logits is None else [part.probe_logits[known]]
        mean.add(backend)
    return mean, Observed.joined(parts), np.concatenate(probes) if probes else None


def _known_documents(train: Labels, held_out: Labels) -> npt.NDArray[np.bool_]:
    """(N,) held-out documents that calibrate: those of a class that the network was trained on.

    Of documents with several labels all calibrate: most labels of each may be known, and a promise about missed labels
    must not leave out the rare ones.
    """
    if train.ndim == 2:
        return np.ones(len(held_out), dtype=bool)
    return np.isin(held_out, train)
