"""What the scores of a model are built from, learnt from its training documents."""

from __future__ import annotations

import logging

from masker.config import Settings
from masker.detection.auto import candidate_features
from masker.detection.score import AUTO, LearntScore
from masker.detection.score_basis import ScoreBasis
from masker.detection.statistics import Statistics, gather_statistics
from masker.documents.encoding import Encoded
from masker.errors import ConfigError
from masker.inference.backend import Backend
from masker.inference.outputs import Outputs
from masker.inference.windows import document_labels, document_outputs, single_labels, stream_outputs
from masker.progress import progress_bar
from masker.registry import SCORES

_log = logging.getLogger("masker")


class BasisLearner:
    """Learns the basis of one score from what a network says of training documents, which have class indices."""

    def __init__(self, backend: Backend, name: str, settings: Settings) -> None:
        self._backend, self._name, self._settings = backend, name, settings

    def learn(self, train: Encoded, outputs: Outputs | None = None) -> ScoreBasis:
        """The basis of the score; ``outputs`` are those of the documents, if they were computed already."""
        if _is_learnt(self._name):
            return ScoreBasis(learnt=self._fit(SCORES.get(self._name), train, outputs))
        return ScoreBasis(self._gather(train, features_of_score(self._name)))

    def learn_again(self, basis: ScoreBasis, train: Encoded) -> ScoreBasis:
        """A new basis of the score and of those that the model has.

        Raises:
            ConfigError: If nothing is learnt from the documents.
        """
        name = self._name
        installed = {kind for _, score in SCORES.items() for kind in score.features}
        before = () if basis.statistics is None else basis.statistics.moments
        kinds = tuple(kind for kind in before if kind in installed)
        learnt: type[LearntScore] | None = None if basis.learnt is None else type(basis.learnt)
        if _is_learnt(name):
            learnt = SCORES.get(name)
        else:
            kinds = tuple(dict.fromkeys([*features_of_score(name), *kinds]))
        if not kinds and learnt is None:
            raise ConfigError(f"statistics: score '{name}' learns nothing from them; leave them out")
        if name != AUTO and basis.combination is not None:
            _log.warning("score 'auto' was chosen with the old statistics and is gone; --score auto chooses it again")
        return ScoreBasis(self._gather(train, kinds), None, None if learnt is None else self._fit(learnt, train))

    def _gather(self, train: Encoded, kinds: tuple[str, ...]) -> Statistics | None:
        """Statistics of the training documents, a chunk at a time; ``None`` if no features are needed."""
        if not kinds:
            return None
        settings = self._settings
        with progress_bar(len(train), "statistics", "doc") as bar:
            stream = stream_outputs(self._backend, train, settings.model.window_pooling, bar.update, kinds=kinds)
            bank, seed = settings.detection.bank, settings.training.seed
            labels, n_classes = document_labels(train), self._backend.n_outputs
            # Documents without any label are a class of their own.
            n_classes += 1 if labels.ndim == 2 else 0
            return gather_statistics(stream, single_labels(labels), n_classes, kinds, bank, seed)

    def _fit(self, score: type[LearntScore], train: Encoded, outputs: Outputs | None = None) -> LearntScore:
        if outputs is None or not set(score.features) <= set(outputs.features):
            pooling = self._settings.model.window_pooling
            outputs = document_outputs(self._backend, train, pooling, kinds=score.features)
        return score.fit(outputs, single_labels(document_labels(train)), self._settings)


def features_of_score(name: str) -> tuple[str, ...]:
    """The kinds of features that a score reads; for ``auto``, those of all candidates."""
    kinds: tuple[str, ...] = candidate_features() if name == AUTO else SCORES.get(name).features
    return kinds


def _is_learnt(name: str) -> bool:
    """Whether a score learns arrays of its own."""
    return name != AUTO and issubclass(SCORES.get(name), LearntScore)
