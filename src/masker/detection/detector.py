"""The detector: a score, the decision rule that was calibrated for it, and the temperature of the confidence.

It knows every score that the model has statistics for, with what held-out documents scored by each of them, so that
another score can be chosen when the model is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from masker.config import METHODS_WITH_SCORE, Settings
from masker.detection.baseline_scores import METHOD_SCORES
from masker.detection.calibration import Calibration
from masker.detection.joint import AUTO, JointScore, Recipe
from masker.detection.network_scores import LOGIT_SCORES, SCORE_NAMES, feature_kinds, make_score
from masker.detection.score import Floats, Labels, LearntScore, Score
from masker.detection.scores.max_probability import class_probabilities
from masker.detection.statistics import Known
from masker.errors import ConfigError, ModelError, did_you_mean
from masker.inference.features import FROZEN
from masker.inference.outputs import Outputs

Arrays = dict[str, npt.NDArray[Any]]

_LEARNT, _KNOWN, _REFERENCE, _HELD_OUT = "score.", "known.", "reference.", "held_out."
_PREDICTED = "predicted"


class Judgement(NamedTuple):
    """What the detector says of N documents.

    Attributes:
        probabilities: (N, C), scaled by the temperature.
        predicted: (N,) the classes with the highest logit.
        raw_confidence: (N,) highest probability before that.
        scores: (N,) out-of-distribution scores.
        p_values: (N,) share of in-distribution documents that look as strange.
        rejected: (N,) whether they are out-of-distribution.
    """

    probabilities: Floats
    predicted: Labels
    raw_confidence: Floats
    scores: Floats
    p_values: Floats
    rejected: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class HeldOut:
    """What held-out in-distribution documents got.

    Attributes:
        scores: (n,) by each score.
        predicted: (n,) their predicted classes.
        separate: Whether nothing but the calibration has seen them.
    """

    scores: dict[str, Floats]
    predicted: Labels
    separate: bool


@dataclass(frozen=True)
class Detector:
    """See above.

    Attributes:
        score: The score in use.
        calibration: Its decision rule.
        settings: All settings of the model.
        temperature: What logits are divided by for the confidence.
        held_out: Held-out documents, for any other score.
        known: Statistics of the training documents; ``None`` for scores of logits and comparison systems.
        auto: What ``auto`` is made of, where it was fitted.
    """

    score: Score
    calibration: Calibration
    settings: Settings
    temperature: float
    held_out: HeldOut
    known: Known | None = None
    auto: Recipe | None = None

    def judge(self, outputs: Outputs) -> Judgement:
        """Probabilities, scores, p-values and decisions.

        Raises:
            ModelError: When the network gives no numbers, as one whose training went astray.
        """
        probabilities = self.probabilities(outputs.logits)
        if not len(probabilities):
            none = np.empty(0)
            return Judgement(probabilities, np.empty(0, dtype=np.int64), none, none, none, np.empty(0, dtype=bool))
        scores, predicted = check_numbers(self.score.ood_score(outputs), outputs), outputs.logits.argmax(axis=1)
        return Judgement(
            probabilities,
            predicted,
            class_probabilities(outputs.logits, self.settings.model.head).max(axis=1),
            scores,
            self.calibration.p_values(scores, predicted),
            self.calibration.rejects(scores, predicted),
        )

    def probabilities(self, doc_logits: npt.NDArray[np.float32]) -> Floats:
        """(N, C) calibrated probabilities of (N, C) logits."""
        return class_probabilities(doc_logits.astype(np.float64) / self.temperature, self.settings.model.head)

    def available(self) -> list[str]:
        """The scores that can be chosen."""
        if self.settings.training.method in METHODS_WITH_SCORE:
            return [self.score.name]
        return [name for name in (AUTO, *SCORE_NAMES) if name in self.held_out.scores]

    def adjusted(
        self, score: str | None = None, false_alarm_rate: float | None = None, class_conditional: bool | None = None
    ) -> Detector:
        """The same with another score or decision rule, calibrated on the same held-out documents.

        Args:
            score: One of :meth:`available`; ``None`` keeps the one in use, as for the others.
            false_alarm_rate: The share of in-distribution documents that may be rejected.
            class_conditional: Whether predicted classes get thresholds of their own.

        Raises:
            ConfigError: When there is no such score, or this model cannot have it, or the rate is none.
        """
        name = self.score.name if score is None else score
        known = self.available()
        if name not in known:
            raise ConfigError(f"score: this model offers {', '.join(known)}; got '{name}'.{self._remedy(name)}")
        if false_alarm_rate is not None and not 0.0 <= false_alarm_rate <= 1.0:
            raise ConfigError(f"false_alarm_rate: must lie between 0 and 1; got {false_alarm_rate!r}")
        if name == self.score.name and false_alarm_rate is None and class_conditional is None:
            return self
        before = self.settings.detection
        rate = self.calibration.false_alarm_rate if false_alarm_rate is None else false_alarm_rate
        by_class = before.class_conditional if class_conditional is None else class_conditional
        changes: dict[str, Any] = {"false_alarm_rate": rate, "class_conditional": by_class, "rule": "false-alarm-rate"}
        if name in (AUTO, *SCORE_NAMES):
            changes["score"] = name
        settings = self.settings.model_copy(update={"detection": before.model_copy(update=changes)})
        calibration = Calibration.fit(
            self.held_out.scores[name],
            self.held_out.predicted,
            len(self.calibration.thresholds),
            rate,
            class_conditional=by_class,
        )
        chosen = self.score if name == self.score.name else build_score(name, self.known, self.auto, settings)
        return replace(self, score=chosen, calibration=calibration, settings=settings)

    def _remedy(self, name: str) -> str:
        if self.settings.training.method in METHODS_WITH_SCORE:
            return f" Method {self.settings.training.method} has that score alone; leave --score out"
        if name not in (AUTO, *SCORE_NAMES):
            return did_you_mean(name, (AUTO, *SCORE_NAMES))
        if FROZEN in feature_kinds(name):
            return f" Train with --score {name}, which keeps the encoder as it was before"
        statistics = "" if name in LOGIT_SCORES else " --statistics TRAINING_DATA"
        return f" Add it with 'masker calibrate MODEL DATA --score {name}{statistics}'"

    # Storage --------------------------------------------------------------------------------------------------------

    def to_manifest(self) -> dict[str, Any]:
        """The part of ``masker.json``."""
        calibration = self.calibration
        return {
            "features": list(self.score.features),
            "temperature": self.temperature,
            "false_alarm_rate": calibration.false_alarm_rate,
            "promised": calibration.promised,
            "thresholds": calibration.thresholds.tolist(),
            "by_class": calibration.by_class.tolist(),
            "held_out": len(calibration.scores),
            "separate": self.held_out.separate,
            "auto": None if self.auto is None else {"offsets": self.auto.offsets, "evidence": self.auto.evidence},
        }

    def to_arrays(self) -> Arrays:
        """The part of ``masker.safetensors``."""
        arrays: Arrays = {_HELD_OUT + name: scores for name, scores in self.held_out.scores.items()}
        arrays[_HELD_OUT + _PREDICTED] = self.held_out.predicted
        if isinstance(self.score, LearntScore):
            arrays |= {_LEARNT + name: array for name, array in self.score.statistics().items()}
        if self.known is not None:
            arrays |= {_KNOWN + name: array for name, array in self.known.to_arrays().items()}
        if self.auto is not None:
            arrays |= {_REFERENCE + name: scores for name, scores in self.auto.references.items()}
        return arrays

    @classmethod
    def from_stored(cls, manifest: dict[str, Any], arrays: Arrays, settings: Settings) -> Detector:
        """Rebuild what :meth:`to_manifest` and :meth:`to_arrays` gave.

        Args:
            manifest: All of ``masker.json``.
            arrays: All of ``masker.safetensors``.
            settings: The settings of the model.
        """
        name: str = manifest["score"]
        if "detection" not in manifest:
            return cls._from_first_format(manifest, arrays, settings)
        stored = manifest["detection"]
        held_out = _part(arrays, _HELD_OUT)
        predicted = held_out.pop(_PREDICTED).astype(np.int64)
        seen = HeldOut(held_out, predicted, bool(stored["separate"]))
        statistics = _part(arrays, _KNOWN)
        known = Known.from_arrays(statistics) if statistics else None
        auto = None
        if stored["auto"] is not None:
            auto = Recipe(stored["auto"]["offsets"], _part(arrays, _REFERENCE), stored["auto"]["evidence"])
        calibration = Calibration(
            seen.scores[name],
            predicted,
            float(stored["false_alarm_rate"]),
            np.array(stored["thresholds"], dtype=np.float64),
            np.array(stored["by_class"], dtype=bool),
            external=stored["promised"] is None,
        )
        score = _own_score(name, arrays, settings) or build_score(name, known, auto, settings)
        return cls(score, calibration, settings, float(stored["temperature"]), seen, known, auto)

    @classmethod
    def _from_first_format(cls, manifest: dict[str, Any], arrays: Arrays, settings: Settings) -> Detector:
        """Folders written before there was a choice of scores."""
        name, scores = manifest["score"], arrays["validation_scores"]
        n_classes = len(manifest["classes"])
        predicted = np.zeros(len(scores), dtype=np.int64)
        rate = settings.detection.false_alarm_rate
        calibration = Calibration.fit(scores, predicted, n_classes, rate, class_conditional=False)
        score = _own_score(name, arrays, settings) or build_score(name, None, None, settings)
        held_out = HeldOut({name: scores}, predicted, False)
        return cls(score, calibration.with_threshold(manifest["threshold"]), settings, 1.0, held_out)


def check_numbers(scores: Floats, outputs: Outputs) -> Floats:
    """The scores, unless they or the logits are no numbers: every comparison with those is false, so nothing is OOD."""
    if np.isnan(scores).any() or np.isnan(outputs.logits).any():
        raise ModelError(
            "the network gives NaN in place of numbers; its training went astray: train again with a lower "
            "learning_rate, or with --set training.precision=fp32"
        )
    return scores


def build_score(name: str, known: Known | None, auto: Recipe | None, settings: Settings) -> Score:
    """A score of any name from what is known; see :func:`masker.detection.network_scores.make_score`."""
    head, detection = settings.model.head, settings.detection
    if name != AUTO:
        return make_score(name, known, head, detection)
    if auto is None:
        raise ModelError("the model has not chosen what its score 'auto' is made of; name another --score")
    return JointScore([make_score(member, known, head, detection) for member in auto.offsets], auto)


def _own_score(name: str, arrays: Arrays, settings: Settings) -> Score | None:
    """The score of a comparison system; ``None`` for others."""
    kind = METHOD_SCORES.get(settings.training.method)
    if kind is None:
        if name != AUTO and name not in SCORE_NAMES:
            raise ModelError(f"the model uses a score '{name}' that this masker does not know; upgrade masker")
        return None
    return kind.from_statistics(_part(arrays, _LEARNT), settings)


def _part(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
