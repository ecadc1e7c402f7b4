"""Head and statistics of a model with more classes, made from all new texts or without some of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from masker.detection.arrays import Labels
from masker.detection.statistics import Statistics
from masker.extension.grown_head import grow_head
from masker.extension.grown_statistics import grown_statistics
from masker.inference.outputs import Outputs
from masker.model import Model
from masker.training.probe import LinearMap


@dataclass(frozen=True)
class GrownParts:
    """A head and statistics with some new texts."""

    head: LinearMap
    statistics: Statistics


@dataclass(frozen=True)
class Growing:
    """What it takes to grow a model."""

    model: Model
    statistics: Statistics
    head: LinearMap
    bank: Any  # (M, F) head inputs of the bank
    outputs: Outputs  # of the new texts
    inputs: Any  # (N, F) their head inputs
    labels: Labels  # (N,)
    classes: list[str]

    def grown_without(self, left_out: Any) -> GrownParts:
        """Head and statistics made with the new texts that are not left out."""
        rows = np.flatnonzero(~left_out)
        labels, settings = self.labels[rows], self.model.settings
        vectors = np.concatenate([self.bank, self.inputs[rows]]).astype(np.float64)
        known = np.concatenate([self.statistics.bank_labels, labels])
        head = grow_head(self.head, vectors, known, len(self.classes), settings.model.head)
        grown = grown_statistics(
            self.statistics,
            self.outputs_of(rows, head),
            labels,
            head(self.bank).astype(np.float32),
            settings.detection.bank,
        )
        return GrownParts(head, grown)

    def outputs_of(self, rows: Any, head: LinearMap) -> Outputs:
        """The outputs of some new texts with another head."""
        lengths = None if self.outputs.lengths is None else self.outputs.lengths[rows]
        features = {kind: self.outputs.features[kind][rows] for kind in self.statistics.moments}
        return Outputs(head(self.inputs[rows]).astype(np.float32), features, lengths)
