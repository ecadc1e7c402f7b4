"""Fitting a detector to a trained network: one pass over the training documents, one over the held-out ones."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.config import Settings
from masker.detection.arrays import Floats, Labels
from masker.detection.auto import (
    Combination,
    Observed,
    choose_combination,
    observe_candidates,
)
from masker.detection.basis_learner import BasisLearner, features_of_score
from masker.detection.calibration import Calibration
from masker.detection.detector import Detector, HeldOut, checked_scores, document_scores
from masker.detection.label_rule import LabelRule, true_labels_of
from masker.detection.score import AUTO, REMOVED_SCORES, Score
from masker.detection.score_basis import ScoreBasis
from masker.detection.stand_ins import stand_in_documents
from masker.detection.temperature import fit_temperature
from masker.documents.encoding import Encoded
from masker.errors import ConfigError, ModelError
from masker.inference.backend import Backend
from masker.inference.outputs import Outputs
from masker.inference.windows import document_labels, document_outputs
from masker.keywords import KeywordSet
from masker.registry import METHODS, SCORES

_log = logging.getLogger("masker")


class DetectorFitter:
    """Fits and recalibrates the detector of a trained network.

    The score is the training method's own if it has one, ``detection.score`` otherwise.

    Raises:
        ConfigError: If there is no such score, or it belongs to another method.
    """

    def __init__(self, backend: Backend, tokenizer: Any, keywords: KeywordSet | None, settings: Settings) -> None:
        self._backend, self._tokenizer, self._keywords, self._settings = backend, tokenizer, keywords, settings
        own = METHODS.get(settings.training.method).own_score
        self._has_own_score = own is not None
        self._name: str = settings.detection.score if own is None else own
        if self._name in REMOVED_SCORES:
            raise ConfigError(f"detection.score: '{self._name}' was removed from masker; use auto, or another score")
        if own is None and self._name != AUTO and SCORES.get(self._name).method_only:
            raise ConfigError(
                f"detection.score: '{self._name}' belongs to a training method of its own, which "
                f"{settings.training.method} is not; choose another score"
            )
        self._learner = BasisLearner(backend, self._name, settings)

    def observe(self, train: Encoded, held_out: Encoded) -> Observed:
        """What the score, or the candidates of ``auto``, say of documents that the network was not trained on."""
        kinds, labels = features_of_score(self._name), document_labels(held_out)
        outputs = self._run(held_out, kinds)
        basis = self._learner.learn(train)
        observed = Observed(outputs.logits, labels, {})
        if self._name == AUTO:
            observed = self._candidates(basis, held_out, outputs)
        names = [self._name] if self._has_own_score else basis.names()
        others = {
            name: checked_scores(basis.build(name, self._settings), outputs)
            for name in names
            if name not in observed.scores
        }
        return replace(observed, scores={**observed.scores, **others})

    def fit_cross(self, train: Encoded, observed: Observed, train_outputs: Outputs | None = None) -> Detector:
        """The detector of averaged networks, from what each of them said of the documents that it had left out.

        Args:
            train: All documents; the statistics are those of the averaged network.
            observed: What :meth:`observe` found for each of the networks, joined.
            train_outputs: Outputs of the documents, if they were computed already.
        """
        settings, name = self._settings, self._name
        basis = self._learner.learn(train, train_outputs)
        scores = dict(observed.scores)
        if name == AUTO:
            basis = replace(basis, combination=choose_combination(observed))
            assert basis.combination is not None
            scores[AUTO] = basis.combination.joint().left_out()
        score = basis.build(name, settings)
        detector = self._calibrated_on_scores(scores, observed.logits.argmax(axis=1), score, basis, separate=True)
        if settings.detection.calibrate_confidence:
            temperature = fit_temperature(observed.logits, observed.labels, settings.model.head)
            detector = replace(detector, temperature=temperature)
        return self._with_answers(detector, observed.logits, observed.labels)

    def fit(
        self, train: Encoded, validation: Encoded, calibration: Encoded | None, train_outputs: Outputs | None = None
    ) -> Detector:
        """The detector of one network: learn statistics, choose the score if it is ``auto``, calibrate it.

        Args:
            train: Training documents. These and all others have class indices, or flags of labels.
            validation: Documents that chose the checkpoint; they choose the score, too. If there are none, nothing is
                calibrated: the detector has a score, and rejects nothing.
            calibration: Documents that were used for no choice; ``None`` calibrates on ``validation``.
            train_outputs: Outputs of the training documents, if they were computed already.
        """
        settings, name = self._settings, self._name
        validation = self._sample(validation)
        labels = held_out_labels = document_labels(validation)
        kinds = features_of_score(name)
        basis = self._learner.learn(train, train_outputs)
        if not len(validation):
            nothing = self._calibrated_on_outputs(basis.build(name, settings), basis, None, separate=True)
            return self._with_answers(nothing, np.empty((0, self._backend.n_outputs), np.float32), labels)
        chosen_on = self._run(validation, kinds)
        if name == AUTO:
            basis = replace(basis, combination=self._choose(basis, validation, chosen_on))
        held_out = chosen_on
        if calibration is not None:
            calibration = self._sample(calibration)
            held_out, held_out_labels = self._run(calibration, kinds), document_labels(calibration)
        detector = self._calibrated_on_outputs(
            basis.build(name, settings), basis, held_out, separate=calibration is not None
        )
        if settings.detection.calibrate_confidence:
            logits = chosen_on.logits
            if calibration is not None:
                logits = np.concatenate([logits, held_out.logits])
                labels = np.concatenate([labels, held_out_labels])
            detector = replace(detector, temperature=fit_temperature(logits, labels, settings.model.head))
        return self._with_answers(detector, held_out.logits, held_out_labels)

    def recalibrate(
        self, detector: Detector, documents: Encoded, choosing: Encoded | None = None, statistics: Encoded | None = None
    ) -> Detector:
        """Calibrate a detector on new in-distribution documents. The network does not change.

        Args:
            detector: The present detector.
            documents: Labels are optional; without them the temperature does not change.
            choosing: Other new documents with class indices to choose ``auto`` on; ``None`` keeps its combination.
            statistics: Training documents with class indices to learn from again, for this score and those that the
                model has; ``None`` keeps what was learnt before.

        Raises:
            ConfigError: If ``statistics`` are given and nothing is learnt from them.
            ModelError: If the model lacks what the score is built from, and ``statistics`` are not given.
        """
        settings, name, basis = self._settings, self._name, detector.basis
        documents = self._sample(documents)
        if statistics is not None:
            basis = self._learner.learn_again(basis, statistics)
        if name == AUTO and choosing is not None:
            basis = replace(basis, combination=self._choose(basis, self._sample(choosing)))
        score = basis.build(name, settings)
        kinds = dict.fromkeys(kind for other in self._score_names(score, basis) for kind in features_of_score(other))
        held_out = self._run(documents, tuple(kinds))
        fresh = self._calibrated_on_outputs(score, basis, held_out, separate=True, added=detector.added)
        temperature = detector.temperature
        labels = None if documents.labels is None else document_labels(documents)
        if settings.detection.calibrate_confidence and labels is not None:
            temperature = fit_temperature(held_out.logits, labels, settings.model.head, too_few=temperature)
        fresh = replace(fresh, temperature=temperature, label_rule=detector.label_rule)
        return self._with_answers(fresh, held_out.logits, labels)

    # Choosing what auto consists of ---------------------------------------------------------------------------------

    def _choose(self, basis: ScoreBasis, documents: Encoded, outputs: Outputs | None = None) -> Combination:
        """Choose what ``auto`` consists of, on these documents and their stand-ins."""
        return choose_combination(self._candidates(basis, documents, outputs))

    def _candidates(self, basis: ScoreBasis, documents: Encoded, outputs: Outputs | None = None) -> Observed:
        """What the candidates of ``auto`` say of these documents and of their stand-ins."""
        settings, statistics, kinds = self._settings, basis.statistics, features_of_score(AUTO)
        if statistics is None or set(kinds) - set(statistics.moments):
            raise ModelError("the model has no statistics for score 'auto'; add them with --statistics TRAINING_DATA")
        outputs = self._run(documents, kinds) if outputs is None else outputs
        seed = settings.training.seed
        views = stand_in_documents(documents, self._keywords, self._tokenizer, settings.masking, seed)
        stand_ins = {view: self._run(encoded, kinds) for view, encoded in views.items()}
        return observe_candidates(statistics, outputs, document_labels(documents), stand_ins, settings)

    # Calibrating ----------------------------------------------------------------------------------------------------

    def _calibrated_on_outputs(
        self,
        score: Score,
        basis: ScoreBasis,
        held_out: Outputs | None,
        *,
        separate: bool,
        added: npt.NDArray[np.bool_] | None = None,
    ) -> Detector:
        """The detector of a score, with the held-out documents' scores by every score that the model can have."""
        settings = self._settings
        if held_out is None:
            nothing = {name: np.empty(0) for name in (score.name, *self._score_names(score, basis))}
            return self._calibrated_on_scores(nothing, np.empty(0, dtype=np.int64), score, basis, separate=separate)
        scores = {score.name: checked_scores(score, held_out)}
        for name in self._score_names(score, basis):
            if name not in scores:
                scores[name] = document_scores(basis.build(name, settings), held_out)
        if AUTO in scores and basis.combination is not None and not separate:
            scores[AUTO] = basis.combination.joint().left_out()  # these documents are its reference
        predicted = held_out.logits.argmax(axis=1)
        return self._calibrated_on_scores(scores, predicted, score, basis, separate=separate, added=added)

    def _calibrated_on_scores(
        self,
        scores: dict[str, Floats],
        predicted: Labels,
        score: Score,
        basis: ScoreBasis,
        *,
        separate: bool,
        added: npt.NDArray[np.bool_] | None = None,
    ) -> Detector:
        settings, rule = self._settings, self._settings.detection
        calibration = Calibration.fit(
            scores[score.name],
            predicted,
            self._backend.n_outputs,
            rule.false_alarm_rate,
            class_conditional=rule.class_conditional,
            confidence=rule.confidence,
            apart=added,
        )
        if rule.rule == "published" and score.published_threshold is not None:
            calibration = calibration.with_threshold(score.published_threshold)
        elif calibration.promised is not None and calibration.promised > rule.false_alarm_rate:
            _log.warning(
                "%d held-out documents guarantee a false-alarm rate of %.3g at best%s, not %.3g; more would do better",
                len(predicted),
                calibration.promised,
                "" if rule.confidence is None else f" with {100 * rule.confidence:.6g} % confidence",
                rule.false_alarm_rate,
            )
        held_out = HeldOut(scores, predicted, separate)
        return Detector(score, calibration, 1.0, held_out, settings.model.head, basis, added)

    def _with_answers(self, detector: Detector, logits: npt.NDArray[np.float32], labels: Labels | None) -> Detector:
        """The detector with the held-out documents' classes and confidence or, of several labels, with a label rule."""
        if self._settings.model.head != "multi-label":
            return detector.with_answers(logits, labels)
        if labels is None:
            return detector.with_answers(logits, None)
        rule = self._settings.detection
        given = LabelRule.fit(
            true_labels_of(logits, labels),
            self._backend.n_outputs,
            rule.missed_rate,
            class_conditional=rule.class_conditional,
        )
        if given.promised is not None and given.promised > rule.missed_rate:
            _log.warning(
                "%d held-out documents with labels guarantee a missed rate of %.3g at best, not %.3g; more do better",
                *(given.held_out, given.promised, rule.missed_rate),
            )
        return replace(detector.with_answers(logits, None), label_rule=given)

    def _score_names(self, score: Score, basis: ScoreBasis) -> list[str]:
        """The scores that the model can have."""
        return [score.name] if self._has_own_score else basis.names()

    def _run(self, encoded: Encoded, kinds: tuple[str, ...]) -> Outputs:
        return document_outputs(self._backend, encoded, self._settings.model.window_pooling, kinds=kinds)

    def _sample(self, encoded: Encoded) -> Encoded:
        return encoded.sample_documents(self._settings.detection.held_out, self._settings.training.seed)
