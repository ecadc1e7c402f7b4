"""The detector: a score, its calibrated decision rule, and the temperature of the confidence.

It keeps the held-out documents' scores by every score that the model can have, so another score can be chosen when the
model is used. It holds no settings: those belong to the model, and methods that need them take them as an argument.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from masker.config import DetectionSettings, Head, Settings, checked_confidence
from masker.detection.arrays import Arrays, Floats, Labels
from masker.detection.calibration import Calibration
from masker.detection.label_rule import LabelRule
from masker.detection.score import AUTO, REMOVED_SCORES, LearntScore, MissingScore, Score
from masker.detection.score_basis import ScoreBasis, part_of
from masker.detection.scores.max_probability import class_probabilities
from masker.errors import ConfigError, ModelError, did_you_mean
from masker.inference.outputs import Outputs
from masker.registry import METHODS, SCORES

_HELD_OUT = "held_out."
_PREDICTED = "predicted"
_LABELS = "labels"
_CONFIDENCE = "confidence"


class RuleChanges(TypedDict, total=False):
    """What :meth:`Detector.adjusted` can change; ``None`` keeps what is in use."""

    score: str | None
    false_alarm_rate: float | None
    confidence: float | None
    class_conditional: bool | None


class Judgement(NamedTuple):
    """What the detector says of N documents."""

    probabilities: Floats  # (N, C), scaled by the temperature
    predicted: Labels  # (N,) the classes with the highest logit
    raw_confidence: Floats  # (N,) highest probability before scaling
    scores: Floats  # (N,) out-of-distribution scores
    p_values: Floats  # (N,) share of in-distribution documents that look at least as strange
    rejected: npt.NDArray[np.bool_]  # (N,) whether they are out-of-distribution
    given: npt.NDArray[np.bool_] | None = None  # (N, C) the labels that each is given; None if each has one class


@dataclass(frozen=True)
class HeldOut:
    """Held-out in-distribution documents."""

    scores: dict[str, Floats]  # (n,) their scores, by the name of the score
    predicted: Labels  # (n,) their predicted classes
    separate: bool  # whether they were used for nothing but the calibration
    labels: Labels | None = None  # (n,) their classes, if they are known
    confidence: Floats | None = None  # (n,) confidence of the predictions; models of earlier versions do not have it

    def known(self) -> Arrays:
        """The optional columns that are there, by name."""
        columns = {_LABELS: self.labels, _CONFIDENCE: self.confidence}
        return {name: column for name, column in columns.items() if column is not None}


@dataclass(frozen=True)
class Detector:
    """Turns the outputs of a network into probabilities, scores and decisions."""

    score: Score
    calibration: Calibration
    temperature: float  # logits are divided by it for the confidence
    held_out: HeldOut  # to calibrate any other score on
    head: Head
    basis: ScoreBasis = field(default_factory=ScoreBasis)  # what this and the other scores are built from
    added: npt.NDArray[np.bool_] | None = None  # (C,) classes that were added after training; None: no class was
    label_rule: LabelRule | None = None  # which labels a document is given; None if each has one class

    def judge(self, outputs: Outputs) -> Judgement:
        """Probabilities, scores, p-values and decisions.

        Raises:
            ModelError: If the network gives NaN, or the model's score is not installed.
        """
        probabilities = self.probabilities(outputs.logits)
        given = None if self.label_rule is None else self.label_rule.gives(outputs.logits)
        if not len(probabilities):
            none = np.empty(0)
            flags = np.empty(0, dtype=bool)
            return Judgement(probabilities, np.empty(0, dtype=np.int64), none, none, none, flags, given)
        scores, predicted = checked_scores(self.score, outputs), outputs.logits.argmax(axis=1)
        return Judgement(
            probabilities,
            predicted,
            class_probabilities(outputs.logits, self.head).max(axis=1),
            scores,
            self.calibration.p_values(scores, predicted),
            self.calibration.rejects(scores, predicted),
            given,
        )

    def probabilities(self, doc_logits: npt.NDArray[np.float32]) -> Floats:
        """(N, C) calibrated probabilities of (N, C) logits."""
        return class_probabilities(doc_logits.astype(np.float64) / self.temperature, self.head)

    def with_answers(self, doc_logits: npt.NDArray[np.float32], labels: Labels | None) -> Detector:
        """The detector with the held-out documents' (n,) classes, and its confidence given their (n, C) logits."""
        confidence = self.probabilities(doc_logits).max(axis=1)
        return replace(self, held_out=replace(self.held_out, labels=labels, confidence=confidence))

    def available(self) -> list[str]:
        """The scores that can be chosen."""
        return [name for name in (AUTO, *SCORES) if name in self.held_out.scores]

    def adjusted(
        self,
        settings: Settings,
        *,
        score: str | None = None,
        false_alarm_rate: float | None = None,
        confidence: float | None = None,
        class_conditional: bool | None = None,
    ) -> tuple[Detector, DetectionSettings]:
        """Change score or decision rule, calibrated on the same held-out documents; ``None`` keeps what is in use.

        Returns the new detector, and the detection settings that describe it. A ``confidence`` of 0 goes back to the
        average.

        Raises:
            ConfigError: If the model does not have that score, or rate or confidence is out of range.
        """
        name = self.score.name if score is None else score
        own_score = METHODS.get(settings.training.method).own_score is not None
        if name not in self.available():
            only = f" Method {settings.training.method} has that score only; leave --score out"
            offers = ", ".join(self.available())
            raise ConfigError(f"score: this model offers {offers}; got '{name}'.{only if own_score else _remedy(name)}")
        if false_alarm_rate is not None and not 0.0 <= false_alarm_rate <= 1.0:
            raise ConfigError(f"false_alarm_rate: must lie between 0 and 1; got {false_alarm_rate!r}")
        try:
            sure = self.calibration.confidence if confidence is None else checked_confidence(confidence)
        except ValueError as error:
            raise ConfigError(f"confidence: {error}; got {confidence!r}") from None
        has_new_rule = (false_alarm_rate, confidence, class_conditional) != (None, None, None)
        if has_new_rule and not len(self.held_out.predicted):
            raise ConfigError(
                "this model was trained without held-out documents, so no rate can be promised; set one with "
                "'masker calibrate MODEL NEW_TEXTS'"
            )
        if name == self.score.name and not has_new_rule:
            return self, settings.detection
        before = settings.detection
        rate = self.calibration.false_alarm_rate if false_alarm_rate is None else false_alarm_rate
        by_class = before.class_conditional if class_conditional is None else class_conditional
        changes: dict[str, Any] = {"false_alarm_rate": rate, "confidence": sure, "class_conditional": by_class}
        changes["rule"] = "false-alarm-rate"
        if not own_score:
            changes["score"] = name
        n_classes = len(self.calibration.thresholds)
        held_out = self.held_out.scores[name], self.held_out.predicted
        calibration = Calibration.fit(
            *held_out, n_classes, rate, class_conditional=by_class, confidence=sure, apart=self.added
        )
        chosen = self.score if name == self.score.name else self.basis.build(name, settings)
        return replace(self, score=chosen, calibration=calibration), before.model_copy(update=changes)

    def with_missed_rate(self, missed_rate: float) -> Detector:
        """Give labels at another missed rate.

        Raises:
            ConfigError: If each document has one class, the rate is out of range, or nothing was held out.
        """
        if self.label_rule is None:
            raise ConfigError("missed_rate: this model gives each text one class, not a list of labels; leave it out")
        return replace(self, label_rule=self.label_rule.adjusted(missed_rate))

    # Storage --------------------------------------------------------------------------------------------------------

    def to_manifest(self) -> dict[str, Any]:
        """The section ``detection`` of ``masker.json``."""
        calibration, auto, learnt = self.calibration, self.basis.combination, self.basis.learnt
        manifest = {
            "features": list(self.score.features),
            "temperature": self.temperature,
            "false_alarm_rate": calibration.false_alarm_rate,
            "confidence": calibration.confidence,
            "promised": calibration.promised,
            "rate_interval": calibration.rate_interval,
            # JSON has no infinity.
            "thresholds": [float(one) if np.isfinite(one) else None for one in calibration.thresholds],
            "by_class": calibration.by_class.tolist(),
            "held_out": len(calibration.scores),
            "separate": self.held_out.separate,
            "auto": None if auto is None else auto.to_manifest(),
        }
        if self.added is not None:
            manifest |= {"added_classes": self.added.tolist(), "apart": calibration.apart is not None}
        if self.label_rule is not None:
            manifest["labels"] = self.label_rule.to_manifest()
        return manifest if learnt is None or learnt.name == self.score.name else {**manifest, "learnt": learnt.name}

    def to_arrays(self) -> Arrays:
        """The detector's arrays in ``masker.safetensors``."""
        scores = {_HELD_OUT + name: scores for name, scores in self.held_out.scores.items()}
        known = {_HELD_OUT + name: column for name, column in self.held_out.known().items()}
        rule = {} if self.label_rule is None else self.label_rule.to_arrays()
        return {**scores, **known, _HELD_OUT + _PREDICTED: self.held_out.predicted, **self.basis.to_arrays(), **rule}

    @classmethod
    def from_stored(cls, manifest: dict[str, Any], arrays: Arrays, settings: Settings) -> Detector:
        """The inverse of :meth:`to_manifest` and :meth:`to_arrays`.

        Takes all of ``masker.json`` and ``masker.safetensors``. A score that is not installed becomes a
        :class:`MissingScore`, so that the model can still be recalibrated. Scores of the held-out documents by other
        scores that are not installed are dropped.
        """
        name, stored = manifest["score"], manifest["detection"]
        held_out = part_of(arrays, _HELD_OUT)
        predicted = held_out.pop(_PREDICTED).astype(np.int64)
        known = held_out.pop(_LABELS, None), held_out.pop(_CONFIDENCE, None)
        added = np.array(stored["added_classes"], dtype=bool) if "added_classes" in stored else None
        calibration = Calibration(
            held_out[name],
            predicted,
            float(stored["false_alarm_rate"]),
            np.array([np.inf if one is None else one for one in stored["thresholds"]], dtype=np.float64),
            np.array(stored["by_class"], dtype=bool),
            external=stored["promised"] is None,
            confidence=stored.get("confidence"),  # folders of earlier versions do not have it
            apart=added if stored.get("apart") else None,
        )
        basis = ScoreBasis.from_stored(stored["auto"], stored.get("learnt", name), arrays, settings)
        installed = name == AUTO or name in SCORES
        score = basis.build(name, settings) if installed else MissingScore(name)
        scores = {other: column for other, column in held_out.items() if other in (name, AUTO) or other in SCORES}
        seen = HeldOut(scores, predicted, bool(stored["separate"]), *known)
        rule = LabelRule.from_stored(stored["labels"], arrays) if "labels" in stored else None
        return cls(score, calibration, float(stored["temperature"]), seen, settings.model.head, basis, added, rule)


def document_scores(score: Score, outputs: Outputs) -> Floats:
    """(N,) scores of N documents, possibly NaN."""
    scores = np.asarray(score.ood_score(outputs), dtype=np.float64)
    if scores.shape != outputs.logits.shape[:1]:
        raise ModelError(
            f"score '{score.name}' must return one number per document, shape {outputs.logits.shape[:1]}; "
            f"got shape {scores.shape}"
        )
    return scores


def checked_scores(score: Score, outputs: Outputs) -> Floats:
    """(N,) scores of N documents, none NaN: comparing with NaN is always false, so nothing would be rejected."""
    if np.isnan(outputs.logits).any():
        raise ModelError(
            "the network gives NaN in place of numbers: its training diverged; train again with a lower "
            "learning_rate, or with --set training.precision=fp32"
        )
    scores = document_scores(score, outputs)
    if np.isnan(scores).any():
        raise ModelError(f"score '{score.name}' gives NaN in place of numbers; choose another --score")
    return scores


def _remedy(name: str) -> str:
    if name in REMOVED_SCORES:
        return " That score was removed from masker"
    if name != AUTO and name not in SCORES:
        return did_you_mean(name, (AUTO, *SCORES))
    if name != AUTO and SCORES.get(name).method_only:
        return " That score belongs to a training method of its own; see docs/systems.md"
    learns = name == AUTO or SCORES.get(name).features or issubclass(SCORES.get(name), LearntScore)
    return f" Add it with 'masker calibrate MODEL DATA --score {name}{' --statistics TRAINING_DATA' if learns else ''}'"
