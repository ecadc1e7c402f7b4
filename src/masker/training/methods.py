"""The training methods, one row each. A method turns a training run into a backend; the rest of the code reads its row.

Registering a :class:`Method` is all it takes to add one, here or in a plug-in (entry-point group ``masker.methods``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from masker.registry import METHODS

if TYPE_CHECKING:
    from masker.config import Head, Settings
    from masker.inference.backend import Backend
    from masker.training.run import TrainingRun

_CLASS_HEADS: tuple[Head, ...] = ("one-vs-rest", "multi-class")
_ALL_HEADS: tuple[Head, ...] = (*_CLASS_HEADS, "multi-label", "regression")


@dataclass(frozen=True)
class Method:
    """One row of the table.

    Attributes:
        name: What ``--method`` calls it.
        train: Trains on a run and returns the backend that predicts.
        heads: The heads it can have; the first is the default.
        keywords: Whether it is trained with keywords.
        own_score: The out-of-distribution score it was published with; ``None`` leaves the choice to ``--score``.
        own_rule: Whether its authors give a rule of their own for rejecting (``detection.rule=published``).
        averaged: Whether its weights are averaged over the last steps by default; if that is switched off, it takes
            twice the epochs of its vanilla stage.
        convolutional: Whether it trains DOC's convolutional network with these settings.
        attention: Whether the trained network has a document token whose attention can be read.
        fine_tuned: Whether a network is trained; otherwise a linear classifier on fixed vectors.
        cross_fits: Whether the mean of several of its models is a model (:mod:`masker.training.cross_fitting`). Its
            head may start from a probe then, too.
    """

    name: str
    train: Callable[[TrainingRun], Backend]
    heads: tuple[Head, ...] = _ALL_HEADS
    keywords: bool = False
    own_score: str | None = None
    own_rule: bool = False
    averaged: bool = False
    convolutional: Callable[[Settings], bool] = lambda settings: False
    attention: bool = True
    fine_tuned: bool = True
    cross_fits: bool = False


def _vanilla(run: TrainingRun) -> Backend:
    return run.fit_network()


def _masker(run: TrainingRun) -> Backend:
    return run.fit_network(keywords=run.find_keywords())


def _residual(run: TrainingRun) -> Backend:
    return run.fit_network(bias_logits=run.bias_logits(run.find_keywords()))


def _openmax(run: TrainingRun) -> Backend:
    return run.fit_convolution() if run.settings.is_convolutional else run.fit_network()


def _openmax_convolves(settings: Settings) -> bool:
    return settings.baselines.openmax_network == "convolution"


def _doc(run: TrainingRun) -> Backend:
    return run.fit_convolution()


def _linear(run: TrainingRun) -> Backend:
    return run.fit_linear("encoder")


def _one_class(run: TrainingRun) -> Backend:
    return run.fit_linear(run.settings.baselines.ocsvm_features)


for _row in (
    Method("masker", _masker, keywords=True, averaged=True, cross_fits=True),
    Method("vanilla", _vanilla, cross_fits=True),
    Method("residual", _residual, _CLASS_HEADS, keywords=True),
    Method("openmax", _openmax, ("multi-class",), own_score="openmax", convolutional=_openmax_convolves),
    Method(
        "doc", _doc, ("one-vs-rest",), own_score="doc", own_rule=True, attention=False,
        convolutional=lambda settings: True,
    ),
    Method(
        "ocsvm", _one_class, ("multi-class",), own_score="one-class-svm", own_rule=True, attention=False,
        fine_tuned=False,
    ),
    Method(
        "linear", _linear, ("multi-class", "multi-label"), own_score="highest-logit", attention=False, fine_tuned=False,
        cross_fits=True,
    ),
):  # fmt: skip
    METHODS.add(_row.name, _row)
