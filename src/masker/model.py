"""A trained model: a system, what its outputs are called, and the folder it is kept in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from masker.config import METHODS_WITH_SCORE, DetectionSettings, Settings, build_settings
from masker.detection.auto import MIN_DOCUMENTS_TO_CHOOSE
from masker.detection.calibration import Calibration
from masker.detection.detector import Detector, Judgement
from masker.detection.fitting import DetectorFitter
from masker.detection.score import AUTO
from masker.detection.trade_off import best_rate, trade_off
from masker.documents.encoding import Encoded, encode
from masker.documents.splits import validation_split
from masker.documents.texts import Text, split_pairs
from masker.errors import ConfigError, DataError, MaskerError, ModelError
from masker.inference.backend import document_outputs
from masker.inference.outputs import Outputs
from masker.keywords import KeywordSet
from masker.labels import class_name
from masker.modeling.model_folder import load_manifest, save_folder, update_folder
from masker.systems import System, detector_tensors, open_system

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Model:
    """Everything that a model folder holds.

    Attributes:
        system: Tokenizer, network and detector.
        settings: All settings it was trained with.
        classes: Class names in the order of the outputs; empty for a regression.
        label_type: What the user's labels were: ``str``, ``int``, ``float`` or ``bool``.
        pairs: Whether its inputs are pairs of texts.
        provenance: Where it comes from.
    """

    system: System
    settings: Settings
    classes: list[str]
    label_type: str
    pairs: bool
    provenance: dict[str, Any]

    @property
    def is_regression(self) -> bool:
        """Whether it predicts numbers instead of classes."""
        return self.settings.model.head == "regression"

    def detector(self, purpose: str = "this") -> Detector:
        """The detector.

        Raises:
            MaskerError: When the model is a regression; says what ``purpose`` needs.
        """
        if self.system.detector is None:
            raise MaskerError(f"{purpose} needs classes, and this model is a regression; use predict")
        return self.system.detector

    def with_detector(self, detector: Detector, detection: DetectionSettings | None = None) -> Model:
        """The same model with another detector and, if they change, the settings that describe it."""
        settings = self.settings.model_copy(update={} if detection is None else {"detection": detection})
        return replace(self, system=replace(self.system, detector=detector), settings=settings)

    # Use ------------------------------------------------------------------------------------------------------------

    def encode(self, texts: Sequence[Text]) -> Encoded:
        """Token ids of texts.

        Raises:
            DataError: When they are pairs and the model wants single texts, or the other way round.
        """
        first, pairs = split_pairs(texts)
        if not first:
            return Encoded([], None, None, np.empty(0, dtype=np.int64))
        if (pairs is not None) != self.pairs:
            expected = "pairs of texts (columns text and text_pair)" if self.pairs else "single texts"
            raise DataError(f"this model was trained on {expected}; the input is of the other kind")
        model = self.settings.model
        return encode(
            self.system.tokenizer,
            first,
            pairs,
            self.system.max_length,
            windows=model.long_documents == "windows",
            window_overlap=model.window_overlap,
        )

    def outputs(self, texts: Sequence[Text], advance: Advance | None = None, kinds: Sequence[str] = ()) -> Outputs:
        """Logits of texts and features of these kinds: all that a score is made of."""
        encoded = self.encode(texts)
        if not len(encoded):
            return Outputs(np.empty((0, self.system.scorer.n_outputs), dtype=np.float32))
        return document_outputs(self.system.scorer, encoded, self.settings.model.window_pooling, advance, kinds=kinds)

    def judge(self, texts: Sequence[Text], advance: Advance | None = None) -> Judgement:
        """Probabilities, scores, p-values and decisions, from one pass."""
        detector = self.detector()
        return detector.judge(self.outputs(texts, advance, detector.score.features))

    # Calibration ----------------------------------------------------------------------------------------------------

    def calibrate(
        self,
        texts: Sequence[Text],
        labels: Sequence[Any] | None,
        *,
        score: str | None = None,
        false_alarm_rate: float | None = None,
        class_conditional: bool | None = None,
        statistics: tuple[Sequence[Text], Sequence[Any]] | None = None,
    ) -> Model:
        """The same network with a detector that is calibrated on new in-distribution texts.

        Args:
            texts: New texts, none of which it was trained on.
            labels: Their classes, for the confidence and for the choice of ``auto``; ``None`` leaves both as they are.
            score: Another score; ``auto`` is made up anew on one part of the texts and calibrated on the other.
            false_alarm_rate: Another rate.
            class_conditional: Another rule.
            statistics: Labelled training texts that statistics of the score are gathered from.

        Raises:
            ConfigError: When the model cannot have that score, or a value is out of range.
            DataError: When there are too few texts, or a label is none of the model's classes.
            ModelError: When the score needs statistics that the model does not have.
        """
        detector = self.detector("calibrate")
        settings = _recalibrated(self.settings, detector, score, false_alarm_rate, class_conditional)
        own = settings.training.method in METHODS_WITH_SCORE
        if own and statistics is not None:
            raise ConfigError(f"statistics: method {settings.training.method} has a score of its own; leave them out")
        fitter = DetectorFitter(self.system.scorer, self.system.tokenizer, self.system.keywords, settings)
        chosen_anew = not own and settings.detection.score == AUTO and (score == AUTO or statistics is not None)
        held_out, choosing = self._parts(list(texts), labels, settings, choose=chosen_anew)
        known = None if statistics is None else self._labelled(*statistics)
        if statistics is not None and {class_name(label) for label in statistics[1]} != set(self.classes):
            raise DataError("statistics: every class of the model must have a text among them; some have none")
        return self.with_detector(fitter.recalibrate(detector, held_out, choosing, known), settings.detection)

    def at_operating_point(
        self, ood_texts: Sequence[Text], highest: float | None = None
    ) -> tuple[Model, list[dict[str, Any]]]:
        """The same model with the false-alarm rate that fits examples of out-of-distribution texts best.

        Args:
            ood_texts: The examples.
            highest: The rate may not exceed this; ``None``: a half.

        Returns:
            The model, and what other rates would cost and catch; see :mod:`masker.detection.trade_off`.
        """
        detector = self.detector("ood_examples")
        if not len(ood_texts):
            raise DataError("ood_examples: there is no text among them; give at least one")
        judged, held_out = self.judge(ood_texts), len(detector.calibration.scores)

        def rule_at(rate: float) -> Calibration:
            return detector.adjusted(self.settings, false_alarm_rate=rate)[0].calibration

        rate = best_rate(rule_at, held_out, judged.scores, judged.predicted, highest)
        rows = trade_off(rule_at, held_out, judged.scores, judged.predicted, rate)
        return self.with_detector(*detector.adjusted(self.settings, false_alarm_rate=rate)), rows

    def _parts(
        self, texts: Sequence[Text], labels: Sequence[Any] | None, settings: Settings, *, choose: bool
    ) -> tuple[Encoded, Encoded | None]:
        """Texts to calibrate on and, where a score is to be chosen, others to choose it on."""
        if not len(texts):
            raise DataError("calibrate: there is no text; give held-out texts of the model's classes")
        if not choose:
            return (self.encode(texts) if labels is None else self._labelled(texts, labels)), None
        if labels is None:
            raise DataError("calibrate: score 'auto' is chosen on labelled texts; add a label column, or leave it out")
        if len(texts) < 2 * MIN_DOCUMENTS_TO_CHOOSE:
            raise DataError(
                f"calibrate: score 'auto' takes at least {2 * MIN_DOCUMENTS_TO_CHOOSE} labelled texts, half of them "
                f"to choose it on; got {len(texts)}"
            )
        share, names = settings.data.calibration_share or 0.5, [class_name(label) for label in labels]
        parts = validation_split(names, share, settings.training.seed)
        if len(parts[0]) < MIN_DOCUMENTS_TO_CHOOSE or not parts[1]:
            raise DataError(
                f"calibrate: score 'auto' is chosen on one part of the texts and calibrated on the other, here "
                f"{len(parts[0])} and {len(parts[1])}, as a class of one text is not parted; give more of each class"
            )
        choosing, held_out = (
            self._labelled([texts[row] for row in rows], [names[row] for row in rows]) for rows in parts
        )
        return held_out, choosing

    def _labelled(self, texts: Sequence[Text], labels: Sequence[Any]) -> Encoded:
        """Texts with class indices."""
        index = {name: place for place, name in enumerate(self.classes)}
        names = [class_name(label) for label in labels]
        unknown = next((name for name in names if name not in index), None)
        if unknown is not None:
            raise DataError(f"label '{unknown}' is none of the model's classes ({', '.join(self.classes)})")
        encoded = self.encode(texts)
        numbers = np.array([index[name] for name in names], dtype=np.int64)
        return replace(encoded, labels=numbers[encoded.document])

    # Persistence ----------------------------------------------------------------------------------------------------

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """What ``masker.safetensors`` holds beside what the network needs."""
        detector = self.system.detector
        return self.system.tensors | ({} if detector is None else detector_tensors(detector))

    def manifest(self) -> dict[str, Any]:
        """What ``masker.json`` holds."""
        detector, keywords = self.system.detector, self.system.keywords
        return {
            "label_type": self.label_type,
            "classes": self.classes,
            "pairs": self.pairs,
            "max_length": self.system.max_length,
            "score": None if detector is None else detector.score.name,
            "threshold": None if detector is None else detector.calibration.threshold,
            "detection": None if detector is None else detector.to_manifest(),
            "validation": self.system.validation_metric,
            "keywords": None if keywords is None else keywords.to_json(),
            "settings": self.settings.model_dump(),
            "provenance": self.provenance,
        }

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the model folder.

        Raises:
            ConfigError: When it exists and may not be overwritten, or cannot be written.
            ModelError: When the backend does not hold the weights.
        """
        weights = self.system.scorer.weights()
        if weights is None:
            raise ModelError(
                "this backend does not hold the full weights; load the model with backend='torch' to save it"
            )
        return save_folder(
            path,
            weights.native,
            self.system.tokenizer,
            self.manifest(),
            {**self.tensors, **weights.tensors},
            weights.pretrained,
            overwrite=overwrite,
        )

    def save_detector(self, path: str | Path) -> Path:
        """Write the detector into the model folder that this model was loaded from, and nothing else."""
        stored = load_manifest(path).tensors
        # A linear classifier lies in the same file as the detector.
        linear = {name: tensor for name, tensor in stored.items() if name.startswith(("linear.", "features."))}
        return update_folder(path, self.manifest(), {**self.tensors, **linear})

    @classmethod
    def load(
        cls,
        path: str | Path,
        backend: str | None = None,
        score: str | None = None,
        false_alarm_rate: float | None = None,
    ) -> Model:
        """Open a model folder; see :meth:`masker.classifier.MaskerClassifier.load`."""
        stored = load_manifest(path)
        manifest = stored.manifest
        try:
            settings = Settings.model_validate(manifest["settings"])
            keywords = None if manifest["keywords"] is None else KeywordSet.from_json(manifest["keywords"])
            named = manifest["classes"], manifest["label_type"], manifest["pairs"], manifest["provenance"]
            validation = manifest["validation"]
            _ = manifest["score"], manifest["threshold"]
        except (KeyError, TypeError, ValueError, MaskerError) as error:
            raise ModelError(f"masker.json in '{path}' is damaged ({error!r}); restore or retrain the model") from None
        try:
            system = open_system(path, stored, settings, backend)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the statistics in '{path}' are damaged ({error!r}); restore or retrain it") from None
        model = cls(replace(system, keywords=keywords, validation_metric=validation), settings, *named)
        if score is None and false_alarm_rate is None:
            return model
        detector = model.detector("another score or false-alarm rate")
        return model.with_detector(*detector.adjusted(settings, score=score, false_alarm_rate=false_alarm_rate))


def _recalibrated(
    settings: Settings,
    detector: Detector,
    score: str | None,
    false_alarm_rate: float | None,
    class_conditional: bool | None,
) -> Settings:
    """Settings with what was asked for in the place of what was there."""
    own = settings.training.method in METHODS_WITH_SCORE
    if own and score not in (None, detector.score.name):
        raise ConfigError(f"score: method {settings.training.method} has one of its own; leave --score out")
    before = settings.detection
    # Who asks for a rate wants that one, and no longer the published threshold.
    rule = before.rule if false_alarm_rate is None else "false-alarm-rate"
    changes: dict[str, Any] = {
        "rule": rule,
        "score": before.score if own else score or detector.score.name,
        "false_alarm_rate": before.false_alarm_rate if false_alarm_rate is None else false_alarm_rate,
        "class_conditional": before.class_conditional if class_conditional is None else class_conditional,
    }
    return build_settings(settings.model_dump(), {"detection": changes})
