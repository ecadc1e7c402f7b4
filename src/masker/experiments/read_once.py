"""An extended model judges texts that the model before it has read: the encoder is the same, only the head is another.

Reading texts takes nearly all of the time of a judgement, and a review is measured with seven models of one encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from masker.detection.detector import Judgement
from masker.documents.texts import Text
from masker.inference.outputs import Outputs
from masker.model import Model
from masker.modeling.heads import head_inputs_of, read_output_layer
from masker.training.probe import LinearMap

#: Features that the head reads.
_KIND = "cls"


@dataclass(frozen=True)
class ReadOnce:
    """A model, and what its encoder made of texts so far."""

    model: Model
    read: dict[tuple[Text, ...], Outputs] = field(default_factory=dict)

    @property
    def classes(self) -> list[str]:
        return self.model.classes

    def judge(self, texts: Sequence[Text]) -> Judgement:
        """As :meth:`Model.judge`, up to rounding."""
        detector, key = self.model.require_detector(), tuple(texts)
        if key not in self.read:
            self.read[key] = self.model.outputs(texts, kinds=sorted({_KIND, *detector.score.features}))
        outputs, classifier = self.read[key], self._classifier
        inputs = head_inputs_of(classifier, outputs.features[_KIND])
        logits = LinearMap(*read_output_layer(classifier))(inputs)
        return detector.judge(outputs._replace(logits=logits.astype(np.float32)))

    def extended(self, model: Model) -> ReadOnce:
        """A model that was extended from this one."""
        return ReadOnce(model, self.read)

    @property
    def _classifier(self) -> Any:
        backend: Any = self.model.backend
        return backend.classifier
