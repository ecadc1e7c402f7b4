"""The scores that any fine-tuned encoder can have, by name, around the equations that define them.

A name is that of the equation, and of the features where it reads others than the document token's:
``knn`` reads ``cls``, ``knn-middle`` the kind ``middle`` (see :mod:`masker.inference.features`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from masker.config import DetectionSettings, Head
from masker.detection.length_effect import LengthEffect
from masker.detection.score import Floats, Score
from masker.detection.scores.energy import energy_score
from masker.detection.scores.entropy import entropy_score
from masker.detection.scores.mahalanobis import fit_gaussians, mahalanobis_score
from masker.detection.scores.max_logit import max_logit_score
from masker.detection.scores.max_probability import max_probability_score
from masker.detection.scores.nearest_neighbour import nearest_neighbour_score, unit_rows
from masker.detection.scores.relative_mahalanobis import fit_background, relative_mahalanobis_score
from masker.detection.scores.scaled_mahalanobis import class_spreads, own_sizes, scaled_mahalanobis_score
from masker.detection.statistics import Known
from masker.detection.vim import fit_virtual_logit, vim_score
from masker.errors import ConfigError, ModelError, did_you_mean
from masker.inference.features import FROZEN
from masker.inference.outputs import Outputs


class LogitScore(Score):
    """A score of the logits alone."""

    _equations: ClassVar[dict[str, Callable[[npt.NDArray[np.floating], Head], Floats]]] = {
        "max-prob": max_probability_score,
        "max-logit": lambda logits, head: max_logit_score(logits),
        "energy": energy_score,
        "entropy": lambda logits, head: entropy_score(logits),
    }

    def __init__(self, name: str, head: Head) -> None:
        self.name = name
        self._head: Head = head
        self._equation = self._equations[name]

    def ood_score(self, outputs: Outputs) -> Floats:
        """See the module of that name."""
        return self._equation(outputs.logits, self._head)


class MahalanobisScore(Score):
    """Distance to the nearest class."""

    def __init__(self, name: str, kind: str, known: Known) -> None:
        self.name, self.features = name, (kind,)
        moments = known.moments[kind]
        self._kind = kind
        self._classes = fit_gaussians(moments.known_means, moments.covariance_within, moments.total)

    def ood_score(self, outputs: Outputs) -> Floats:
        """The squared distance."""
        return mahalanobis_score(outputs.features[self._kind], self._classes)


class ScaledMahalanobisScore(MahalanobisScore):
    """Distance to the nearest class, in units of its own spread and of what is usual for the length."""

    def __init__(self, name: str, kind: str, known: Known) -> None:
        super().__init__(name, kind, known)
        distances, counts = self._classes.distances(known.bank[kind]), known.moments[kind].counts
        place = np.cumsum(counts > 0) - 1  # of a class among those that have documents
        labels, there = place[known.bank_labels], counts[counts > 0]
        sizes = own_sizes(distances, labels, there)
        self._spreads = class_spreads(sizes, labels, len(there))
        self._usual: LengthEffect | None = None
        usable = ~np.isnan(sizes)
        if known.bank_lengths is not None and usable.any():
            relative = (sizes - np.log(self._spreads)[labels])[usable]
            self._usual = LengthEffect.fit(known.bank_lengths[usable], relative)

    def ood_score(self, outputs: Outputs) -> Floats:
        """The squared distance, divided."""
        usual: Floats | float = 1.0
        if self._usual is not None:
            assert outputs.lengths is not None
            usual = self._usual(outputs.lengths)
        return scaled_mahalanobis_score(outputs.features[self._kind], self._classes, self._spreads, usual)


class RelativeMahalanobisScore(Score):
    """Distance to the nearest class, less that to all documents."""

    def __init__(self, name: str, kind: str, known: Known) -> None:
        self.name, self.features = name, (kind,)
        moments = known.moments[kind]
        self._kind = kind
        self._classes = fit_gaussians(moments.known_means, moments.covariance_within, moments.total)
        between = moments.covariance - moments.covariance_within
        self._background = fit_background(moments.mean, moments.covariance_within, between, moments.total)

    def ood_score(self, outputs: Outputs) -> Floats:
        """The difference of squared distances."""
        return relative_mahalanobis_score(outputs.features[self._kind], self._classes, self._background)


class NearestNeighbourScore(Score):
    """Distance to the k-th nearest training document."""

    def __init__(self, name: str, kind: str, known: Known, neighbours: int) -> None:
        self.name, self.features = name, (kind,)
        self._kind, self._neighbours = kind, neighbours
        self._bank = unit_rows(known.bank[kind])

    def ood_score(self, outputs: Outputs) -> Floats:
        """The cosine distance."""
        return nearest_neighbour_score(outputs.features[self._kind], self._bank, self._neighbours)


class VirtualLogitScore(Score):
    """ViM."""

    def __init__(self, name: str, kind: str, known: Known, head: Head) -> None:
        self.name, self.features = name, (kind,)
        self._kind = kind
        self._head: Head = head
        moments = known.moments[kind]
        self._virtual = fit_virtual_logit(moments.mean, moments.covariance, known.bank[kind], known.bank_logits)

    def ood_score(self, outputs: Outputs) -> Floats:
        """The virtual logit less the energy."""
        return vim_score(outputs.features[self._kind], outputs.logits, self._virtual, self._head)


LOGIT_SCORES = tuple(LogitScore._equations)
_DISTANCES = {
    "mahalanobis": ("cls", "mean", "layers", "middle"),
    "scaled-mahalanobis": ("cls", "mean", "layers", "middle"),
    "relative-mahalanobis": ("cls", "mean", "layers", "middle"),
    "knn": ("cls", "mean", "layers", "middle", FROZEN),
    "vim": ("cls", "mean"),
}
#: Equation and kind of features of each score that reads features.
FEATURE_SCORES: dict[str, tuple[str, str]] = {
    equation if kind == "cls" else f"{equation}-{kind}": (equation, kind)
    for equation, kinds in _DISTANCES.items()
    for kind in kinds
}
SCORE_NAMES = (*LOGIT_SCORES, *FEATURE_SCORES)


def feature_kinds(name: str) -> tuple[str, ...]:
    """The kinds of features that a score reads."""
    return (FEATURE_SCORES[name][1],) if name in FEATURE_SCORES else ()


def make_score(name: str, known: Known | None, head: Head, settings: DetectionSettings) -> Score:
    """The score of that name.

    Args:
        name: One of :data:`SCORE_NAMES`.
        known: Statistics of the training documents; scores of logits need none.
        head: ``one-vs-rest`` or ``multi-class``.
        settings: ``neighbours`` is used.

    Raises:
        ConfigError: When there is no such score.
        ModelError: When the statistics do not have what it reads.
    """
    if name in LOGIT_SCORES:
        return LogitScore(name, head)
    if name not in FEATURE_SCORES:
        raise ConfigError(
            f"score must be one of auto, {', '.join(SCORE_NAMES)}; got '{name}'.{did_you_mean(name, SCORE_NAMES)}"
        )
    equation, kind = FEATURE_SCORES[name]
    if known is None or kind not in known.moments:
        message = f"the model has no statistics for score '{name}'; train with --score {name}"
        # What the encoder was before training is gone with it.
        if kind != FROZEN:
            message += f", or add them with 'masker calibrate MODEL DATA --score {name} --statistics TRAINING_DATA'"
        raise ModelError(message)
    if equation == "mahalanobis":
        return MahalanobisScore(name, kind, known)
    if equation == "scaled-mahalanobis":
        return ScaledMahalanobisScore(name, kind, known)
    if equation == "relative-mahalanobis":
        return RelativeMahalanobisScore(name, kind, known)
    if equation == "knn":
        return NearestNeighbourScore(name, kind, known, settings.neighbours)
    return VirtualLogitScore(name, kind, known, head)
