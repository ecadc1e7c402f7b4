"""The scores of the comparison systems, around the equations that define them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.config import BaselineSettings, Method, Settings
from masker.detection.score import Floats, Labels, LearntScore
from masker.detection.scores.doc import doc_score, gaussian_thresholds
from masker.detection.scores.max_logit import max_logit_score
from masker.detection.scores.max_probability import class_probabilities
from masker.detection.scores.one_class_svm import OneClassSvm, fit_one_class_svm
from masker.detection.scores.openmax import OpenMaxStatistics, fit_openmax, openmax_probabilities
from masker.inference.linear_backend import VECTORS
from masker.inference.outputs import Outputs

Arrays = dict[str, npt.NDArray[Any]]


class OpenMaxScore(LearntScore):
    """The probability of OpenMax' unknown class."""

    name = "openmax"

    def __init__(self, known: OpenMaxStatistics, settings: BaselineSettings) -> None:
        self._known, self._settings = known, settings

    def ood_score(self, outputs: Outputs) -> Floats:
        """P_0."""
        alpha, distance = self._settings.openmax_alpha, self._settings.openmax_distance
        probabilities = openmax_probabilities(outputs.logits, self._known, alpha=alpha, distance=distance)
        return np.asarray(probabilities[:, 0])

    @classmethod
    def fit(cls, outputs: Outputs, labels: Labels, settings: Settings) -> OpenMaxScore:
        """Mean activation vectors and Weibull tails."""
        chosen = settings.baselines
        known = fit_openmax(outputs.logits, labels, tail=chosen.openmax_tail, distance=chosen.openmax_distance)
        return cls(known, chosen)

    @classmethod
    def from_statistics(cls, statistics: Arrays, settings: Settings) -> OpenMaxScore:
        """Rebuild."""
        return cls(OpenMaxStatistics(**statistics), settings.baselines)

    def statistics(self) -> Arrays:
        """Means, shapes, scales and starts."""
        return asdict(self._known)


class DocScore(LearntScore):
    """How far the probabilities of all classes stay below DOC's thresholds."""

    name = "doc"
    published_threshold = 0.0

    def __init__(self, thresholds: Floats) -> None:
        self._thresholds = thresholds

    def ood_score(self, outputs: Outputs) -> Floats:
        """The smallest shortfall."""
        return doc_score(class_probabilities(outputs.logits, "one-vs-rest"), self._thresholds)

    @classmethod
    def fit(cls, outputs: Outputs, labels: Labels, settings: Settings) -> DocScore:
        """One threshold a class."""
        probabilities = class_probabilities(outputs.logits, "one-vs-rest")
        return cls(gaussian_thresholds(probabilities, labels, settings.baselines.doc_alpha))

    @classmethod
    def from_statistics(cls, statistics: Arrays, settings: Settings) -> DocScore:
        """Rebuild."""
        return cls(statistics["thresholds"])

    def statistics(self) -> Arrays:
        """The thresholds."""
        return {"thresholds": self._thresholds}


class OneClassScore(LearntScore):
    """How far outside a one-class SVM's region the features lie."""

    name = "one-class-svm"
    features = (VECTORS,)
    published_threshold = 0.0

    def __init__(self, machine: OneClassSvm) -> None:
        self._machine = machine

    def ood_score(self, outputs: Outputs) -> Floats:
        """−f(x)."""
        return -self._machine.decision(outputs.features[VECTORS])

    @classmethod
    def fit(cls, outputs: Outputs, labels: Labels, settings: Settings) -> OneClassScore:
        """Solve for f, without regard to classes."""
        chosen, solver = settings.baselines, settings.baselines.ocsvm_solver
        if solver == "auto":
            solver = "exact" if len(labels) <= chosen.ocsvm_exact_limit else "sgd"
        machine = fit_one_class_svm(
            outputs.features[VECTORS],
            nu=chosen.ocsvm_nu,
            gamma=chosen.ocsvm_gamma,
            solver=solver,
            components=chosen.ocsvm_components,
            seed=settings.training.seed,
        )
        return cls(machine)

    @classmethod
    def from_statistics(cls, statistics: Arrays, settings: Settings) -> OneClassScore:
        """Rebuild."""
        return cls(OneClassSvm.from_arrays(statistics))

    def statistics(self) -> Arrays:
        """Points, weights, intercept, kernel width."""
        return self._machine.to_arrays()


class FrozenLogitScore(LearntScore):
    """The highest logit of a linear classifier on frozen features; nothing to learn."""

    name = "highest-logit"

    def ood_score(self, outputs: Outputs) -> Floats:
        """−max z."""
        return max_logit_score(outputs.logits)

    @classmethod
    def fit(cls, outputs: Outputs, labels: Labels, settings: Settings) -> FrozenLogitScore:
        """Ready as it is."""
        return cls()

    @classmethod
    def from_statistics(cls, statistics: Arrays, settings: Settings) -> FrozenLogitScore:
        """Ready as it is."""
        return cls()

    def statistics(self) -> Arrays:
        """None."""
        return {}


#: The score that a comparison system was published with.
METHOD_SCORES: dict[Method, type[LearntScore]] = {
    "openmax": OpenMaxScore,
    "doc": DocScore,
    "ocsvm": OneClassScore,
    "linear": FrozenLogitScore,
}
