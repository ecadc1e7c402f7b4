"""Every score by name, around the equations that define them, and the score that each method is published with."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.baselines.doc import doc_score, gaussian_thresholds
from masker.baselines.one_class_svm import OneClassSvm, fit_one_class_svm
from masker.baselines.openmax import OpenMaxStatistics, fit_openmax, openmax_probabilities
from masker.config import BaselineSettings, Head, Method, Settings
from masker.errors import ModelError
from masker.modeling.scorer import Outputs
from masker.scoring.max_probability import class_probabilities, max_probability_score
from masker.scoring.score import Floats, Labels, Score

Arrays = dict[str, npt.NDArray[Any]]


class MaxProbability(Score):
    """How far the best class is from certain."""

    name = "max-prob"

    def __init__(self, head: Head) -> None:
        self._head: Head = head

    def ood_score(self, outputs: Outputs) -> Floats:
        """1 − the highest probability."""
        return max_probability_score(outputs.logits, self._head)

    @classmethod
    def fit(cls, outputs: Outputs | None, labels: Labels, settings: Settings) -> MaxProbability:
        """Nothing to learn."""
        return cls(settings.model.head)

    @classmethod
    def from_statistics(cls, statistics: Arrays, settings: Settings) -> MaxProbability:
        """Nothing to read."""
        return cls(settings.model.head)


class OpenMaxScore(Score):
    """The probability of OpenMax' unknown class."""

    name = "openmax"
    learns = True

    def __init__(self, known: OpenMaxStatistics, settings: BaselineSettings) -> None:
        self._known, self._settings = known, settings

    def ood_score(self, outputs: Outputs) -> Floats:
        """P_0."""
        alpha, distance = self._settings.openmax_alpha, self._settings.openmax_distance
        probabilities = openmax_probabilities(outputs.logits, self._known, alpha=alpha, distance=distance)
        return np.asarray(probabilities[:, 0])

    @classmethod
    def fit(cls, outputs: Outputs | None, labels: Labels, settings: Settings) -> OpenMaxScore:
        """Mean activation vectors and Weibull tails."""
        assert outputs is not None
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


class DocScore(Score):
    """How far the probabilities of all classes stay below DOC's thresholds."""

    name = "doc"
    learns = True
    published_threshold = 0.0

    def __init__(self, thresholds: Floats) -> None:
        self._thresholds = thresholds

    def ood_score(self, outputs: Outputs) -> Floats:
        """The smallest shortfall."""
        return doc_score(class_probabilities(outputs.logits, "one-vs-rest"), self._thresholds)

    @classmethod
    def fit(cls, outputs: Outputs | None, labels: Labels, settings: Settings) -> DocScore:
        """One threshold a class."""
        assert outputs is not None
        probabilities = class_probabilities(outputs.logits, "one-vs-rest")
        return cls(gaussian_thresholds(probabilities, labels, settings.baselines.doc_alpha))

    @classmethod
    def from_statistics(cls, statistics: Arrays, settings: Settings) -> DocScore:
        """Rebuild."""
        return cls(statistics["thresholds"])

    def statistics(self) -> Arrays:
        """The thresholds."""
        return {"thresholds": self._thresholds}


class OneClassScore(Score):
    """How far outside a one-class SVM's region the features lie."""

    name = "one-class-svm"
    reads_features = True
    learns = True
    published_threshold = 0.0

    def __init__(self, machine: OneClassSvm) -> None:
        self._machine = machine

    def ood_score(self, outputs: Outputs) -> Floats:
        """−f(x)."""
        return -self._machine.decision(outputs.features)

    @classmethod
    def fit(cls, outputs: Outputs | None, labels: Labels, settings: Settings) -> OneClassScore:
        """Solve for f, without regard to classes."""
        assert outputs is not None
        chosen, solver = settings.baselines, settings.baselines.ocsvm_solver
        if solver == "auto":
            solver = "exact" if len(labels) <= chosen.ocsvm_exact_limit else "sgd"
        machine = fit_one_class_svm(
            outputs.features,
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


SCORES: dict[str, type[Score]] = {
    score.name: score for score in (MaxProbability, OpenMaxScore, DocScore, OneClassScore)
}

#: The score that a method was published with.
METHOD_SCORES: dict[Method, type[Score]] = {
    "masker": MaxProbability,
    "vanilla": MaxProbability,
    "residual": MaxProbability,
    "openmax": OpenMaxScore,
    "doc": DocScore,
    "ocsvm": OneClassScore,
}


def find_score(name: str) -> type[Score]:
    """The score that ``masker.json`` names.

    Raises:
        ModelError: When there is none of that name.
    """
    if name not in SCORES:
        raise ModelError(f"the model uses a score '{name}' that this masker does not know; upgrade masker")
    return SCORES[name]
