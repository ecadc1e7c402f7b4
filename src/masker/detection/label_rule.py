"""Which labels a document is given: a threshold for each label, and what the thresholds promise.

Few labels have enough documents to promise anything about each: of the 90 topics of Reuters, most have fewer than the
nine held-out documents that a rate of 10 % takes. So all labels share one threshold, which keeps the share of missed
labels of a document (:mod:`masker.detection.risk_control`). With ``detection.class_conditional``, a label that has
enough gets a threshold of its own, which keeps the rate among the documents that have this label, and the others keep
it together.

No threshold is above even odds. Where the promise would allow one, labels that more likely hold than not would be
missed for nothing; and a lower threshold misses no more, so the promise holds all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.detection.arrays import Arrays, Floats, Labels
from masker.detection.conformal import least_documents, promised_rate
from masker.detection.risk_control import TrueLabels, missed_share_threshold
from masker.errors import ConfigError

Flags = npt.NDArray[np.bool_]

#: The logit of a probability of one half.
EVEN_ODDS = 0.0
_TRUE = "true_labels."


@dataclass(frozen=True)
class LabelRule:
    """The decision rule of a multi-label model."""

    true: TrueLabels  # labels of the held-out documents
    missed_rate: float  # share of its labels that a document may lose, on average
    thresholds: Floats  # (C,) logit from which a label is given
    by_label: Flags  # (C,) whether a label has a threshold of its own; the others share one

    @classmethod
    def fit(cls, true: TrueLabels, n_labels: int, missed_rate: float, *, class_conditional: bool) -> LabelRule:
        """Set the thresholds; if no held-out document has a label, at even odds, which promises nothing."""
        by_label = np.zeros(n_labels, dtype=bool)
        if not len(true.logits):
            return cls(true, missed_rate, np.full(n_labels, EVEN_ODDS), by_label)
        if class_conditional:
            counts = np.bincount(true.labels, minlength=n_labels)
            by_label = counts >= max(1, least_documents(missed_rate))
        rule = cls(true, missed_rate, np.empty(n_labels), by_label)
        for labels, members in rule._groups():
            part = TrueLabels(true.logits[members], true.labels[members], true.documents[members])
            rule.thresholds[labels] = min(missed_share_threshold(part, missed_rate), EVEN_ODDS)
        return rule

    def _groups(self) -> Iterator[tuple[Flags, Flags]]:
        """Disjoint groups of labels (C,) with a common threshold, and the held-out labels (P,) behind it."""
        for label in np.flatnonzero(self.by_label):
            yield np.arange(len(self.by_label)) == label, self.true.labels == label
        shared = ~self.by_label
        if shared.any():
            rest = shared[self.true.labels]
            # If no held-out document has one of these labels, all labels are the best guess.
            yield shared, rest if rest.any() else np.ones_like(rest)

    def gives(self, doc_logits: npt.NDArray[np.floating]) -> Flags:
        """(N, C) whether each label is given, from (N, C) logits."""
        return np.asarray(doc_logits >= self.thresholds)

    def adjusted(self, missed_rate: float) -> LabelRule:
        """The rule for another rate, from the same held-out documents.

        Raises:
            ConfigError: When the rate is out of range, or no held-out document has a label.
        """
        if not 0.0 <= missed_rate <= 1.0:
            raise ConfigError(f"missed_rate: must lie between 0 and 1; got {missed_rate!r}")
        if not len(self.true.logits):
            raise ConfigError(
                "this model was trained without held-out documents, so no missed rate can be promised; set one with "
                "'masker calibrate MODEL NEW_TEXTS'"
            )
        own = bool(self.by_label.any())
        return self.fit(self.true, len(self.thresholds), missed_rate, class_conditional=own)

    @property
    def held_out(self) -> int:
        """The number of held-out documents that have a label."""
        return len(np.unique(self.true.documents))

    @property
    def promised(self) -> float | None:
        """The missed rate that the held-out documents guarantee, on average; ``None`` if there are none."""
        if not len(self.true.logits):
            return None
        counts = [len(np.unique(self.true.documents[members])) for _, members in self._groups()]
        return max(promised_rate(count, self.missed_rate) for count in counts)

    # Storage --------------------------------------------------------------------------------------------------------

    def to_manifest(self) -> dict[str, Any]:
        """The section ``detection.labels`` of ``masker.json``."""
        return {
            "missed_rate": self.missed_rate,
            "promised": self.promised,
            "held_out": self.held_out,
            "thresholds": self.thresholds.tolist(),
            "by_label": self.by_label.tolist(),
        }

    def to_arrays(self) -> Arrays:
        """Its arrays in ``masker.safetensors``."""
        return {_TRUE + name: column for name, column in self.true._asdict().items()}

    @classmethod
    def from_stored(cls, stored: dict[str, Any], arrays: Arrays) -> LabelRule:
        """The inverse of :meth:`to_manifest` and :meth:`to_arrays`, given all of ``masker.safetensors``."""
        true = TrueLabels(*(arrays[_TRUE + name] for name in TrueLabels._fields))
        thresholds = np.array(stored["thresholds"], dtype=np.float64)
        return cls(true, float(stored["missed_rate"]), thresholds, np.array(stored["by_label"], dtype=bool))


def true_labels_of(doc_logits: npt.NDArray[np.floating], label_matrix: Labels) -> TrueLabels:
    """The labels that documents have, from (N, C) logits and (N, C) flags of the true labels."""
    documents, labels = np.nonzero(label_matrix)
    logits = np.asarray(doc_logits, dtype=np.float64)[documents, labels]
    return TrueLabels(logits, labels.astype(np.int64), documents.astype(np.int64))
