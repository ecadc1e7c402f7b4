"""A trained model: a system, what its outputs are called, and the folder it is kept in."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from masker.config import Settings
from masker.data.encoding import Encoded, encode
from masker.data.texts import Text, split_pairs
from masker.errors import DataError, MaskerError, ModelError
from masker.keywords import KeywordSet
from masker.modeling.checkpoint import load_manifest, save_folder, update_folder
from masker.modeling.features import Outputs
from masker.modeling.scorer import document_outputs
from masker.scoring.detector import Detector, Judgement
from masker.systems import System, detector_tensors, open_system

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Model:
    """Everything that a model folder holds.

    Attributes:
        system: Tokenizer, network and detector.
        settings: All settings it was trained with.
        classes: Class names in the order of the outputs; empty for a regression.
        label_type: What the user's labels were: ``str`` or ``int``.
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

    def with_detector(self, detector: Detector) -> Model:
        """The same model with another detector."""
        return replace(self, system=replace(self.system, detector=detector))

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
        if overwrite and Path(path).is_dir():
            load_manifest(path)  # only ever delete what is a model of ours
            shutil.rmtree(path)
        tensors = {**self.tensors, **weights.tensors}
        return save_folder(
            path, weights.native, self.system.tokenizer, self.manifest(), tensors, weights.pretrained
        )

    def save_detector(self, path: str | Path) -> Path:
        """Write the detector into the model folder that this model was loaded from, and nothing else."""
        stored = load_manifest(path).tensors
        # A linear classifier lies in the same file as the detector.
        linear = {name: tensor for name, tensor in stored.items() if name.startswith(("linear.", "features."))}
        return update_folder(path, self.manifest(), {**self.tensors, **linear})

    @classmethod
    def load(cls, path: str | Path, backend: str | None = None, score: str | None = None) -> Model:
        """Open a model folder.

        Args:
            path: The folder.
            backend: What runs the network; see :func:`masker.modeling.scorer.open_scorer`.
            score: An out-of-distribution score in place of the model's own, calibrated on the same documents.

        Raises:
            ConfigError: When there is no such backend, or the model does not have that score.
            ModelError: When the folder is missing, foreign, damaged, not exported for ``backend``, or holds a pickle.
        """
        stored = load_manifest(path)
        manifest = stored.manifest
        try:
            settings = Settings.model_validate(manifest["settings"])
            keywords = None if manifest["keywords"] is None else KeywordSet.from_json(manifest["keywords"])
            named = manifest["classes"], manifest["label_type"], manifest["pairs"], manifest["provenance"]
            validation = manifest["validation"]
            score_name, _ = manifest["score"], manifest["threshold"]
        except (KeyError, TypeError, ValueError, MaskerError) as error:
            raise ModelError(f"masker.json in '{path}' is damaged ({error!r}); restore or retrain the model") from None
        try:
            system = open_system(path, stored, settings, backend)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the statistics in '{path}' are damaged ({error!r}); restore or retrain it") from None
        model = cls(replace(system, keywords=keywords, validation_metric=validation), settings, *named)
        if score is None or score == score_name:
            return model
        return model.with_detector(model.detector("--score").with_score(score))
