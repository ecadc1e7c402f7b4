"""The probes of a training run: regressions on vectors of its documents that training does not change.

A probe is what the head of a network starts from (:mod:`masker.training.probe`), or it is the linear baseline. Vectors
are computed once, for the run and all its folds.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.config import Head, Settings
from masker.documents.encoding import Encoded
from masker.documents.folds import stratified_folds
from masker.inference.windows import single_labels
from masker.training.probe import (
    CHOOSING_DOCUMENTS,
    STRENGTH,
    STRENGTHS,
    LinearMap,
    choose_strength,
    cross_entropy,
    fit_probe,
    label_entropy,
    out_of_fold_logits,
)

#: Rows that suffice to start a head from: training goes on from there with all of them.
PROBED_ROWS = 10_000
#: Folds that choose C of a logistic regression.
CHOOSING_FOLDS = 5
#: The name under which the vectors are kept that the head of a network reads.
_HEAD = "head"
#: A probe that explains a smaller share of the labels' entropy is weak: it relies on features that go with the class by
#: accident, such as the subject of a review, and so does a network that starts from it. Topics and intents lie above,
#: sentiment below (docs/training.md).
LEAST_INFORMATION = 0.6
#: With fewer documents per class a new head would learn little, and the share itself is a rough estimate.
LEAST_DOCUMENTS = 100
#: From this many documents per class on, C is tuned if a probe with the usual one is weak: that one would memorize
#: wrong labels, for example.
SEARCHED_DOCUMENTS = 20

ComputeVectors = Callable[[Encoded], Any]


class RunProbes:
    """Probes of the documents of a run, or of those outside a fold.

    Args:
        settings: All settings.
        n_classes: C; 0 for a regression.
        documents: All training documents, those of the fold included.
    """

    def __init__(self, settings: Settings, n_classes: int, documents: Encoded) -> None:
        self.documents = documents
        self._settings, self._n_classes = settings, n_classes
        self._kept: npt.NDArray[np.bool_] = np.ones(len(documents), dtype=bool)
        self._computed: dict[str, Any] = {}

    def without(self, left_out: npt.NDArray[np.bool_]) -> RunProbes:
        """The probes of all other rows, on the same vectors."""
        part = copy.copy(self)
        part._kept = ~left_out
        return part

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """The result of ``compute``, which a run and its folds share."""
        if name not in self._computed:
            self._computed[name] = compute()
        return self._computed[name]

    def vectors(self, features: str, compute: ComputeVectors) -> Any:
        """(N, F) vectors of these rows."""
        return self._own(self.once(features, lambda: compute(self.documents)))

    def fit(self, features: str) -> LinearMap:
        """A probe of these rows on vectors that were computed; C is chosen on all rows, for all folds."""
        strength = self.once(f"{features} strength", lambda: self._strength(self._computed[features]))
        return self._fit(self._own(self._computed[features]), self._own(self._labels), strength=strength)

    def fit_head(self, compute: ComputeVectors) -> LinearMap:
        """A probe on the vectors that the head of a network reads, for that head to start from."""
        rows = self._probed_rows
        kept = self._kept[rows]
        vectors = self.once(_HEAD, lambda: compute(self.documents.take(rows.tolist())))[kept]
        length = float(np.linalg.norm(vectors, axis=1).mean()) or 1.0  # C is meant for vectors of length 1
        searched = self._n_classes and self.documents.n_documents >= SEARCHED_DOCUMENTS * self._n_classes
        strength = self._best()[1] if searched else STRENGTH
        probe = self._fit(vectors / length, self._labels[rows][kept], strength=strength)
        return LinearMap(probe.weight / length, probe.bias)

    def information(self, enough: float | None = None) -> float:
        r"""The share of the labels' entropy that a probe explains, on left-out documents of the whole run.

        .. math:: 1 - \frac{L_{CE}}{H(y)}

        It is 1 for a probe that is sure and right, and 0 for one that knows only how frequent the classes are.

        Args:
            enough: C is not tuned if the usual one reaches this share; ``None`` is :data:`LEAST_INFORMATION`.
        """
        return self._best(enough)[0]

    def _best(self, enough: float | None = None) -> tuple[float, float]:
        """That share, and the C that reaches it."""
        enough = LEAST_INFORMATION if enough is None else enough
        best: tuple[float, float] = self.once(f"best of {enough}", lambda: self._search(enough))
        return best

    def _search(self, enough: float) -> tuple[float, float]:
        probed = self._probed_rows
        places = np.random.default_rng(0).permutation(len(probed))[:CHOOSING_DOCUMENTS]
        places.sort()  # all of them, in order, if there are not too many
        vectors, labels = self._computed[_HEAD][places], self._labels[probed[places]]
        vectors = vectors / (float(np.linalg.norm(vectors, axis=1).mean()) or 1.0)
        folds = stratified_folds(single_labels(labels).tolist(), CHOOSING_FOLDS, self._settings.training.seed)
        # A 1-vs-rest head is judged as the softmax that it comes close to.
        head: Head = "multi-label" if labels.ndim == 2 else "multi-class"
        entropy, best = label_entropy(labels), (-np.inf, STRENGTH)
        for strength in sorted(STRENGTHS, key=lambda strength: strength != STRENGTH):  # the usual one mostly suffices
            logits = out_of_fold_logits(vectors, labels, self._n_classes, folds, head=head, strength=strength)
            best = max(best, (1.0 - cross_entropy(logits, labels) / entropy, strength), key=lambda pair: pair[0])
            if best[0] >= enough:
                break
        return best

    @property
    def is_weak(self) -> bool | None:
        """Whether a network should start from a new head instead; ``None`` before :meth:`fit_head`, of any fold."""
        if not self._n_classes or self.documents.n_documents < LEAST_DOCUMENTS * self._n_classes:
            return False
        return self.information() < LEAST_INFORMATION if _HEAD in self._computed else None

    def left_out_vectors(self) -> Any | None:
        """The left-out fold's vectors that the head reads; ``None`` without a fold, or if not all rows were probed."""
        if self._kept.all() or len(self._probed_rows) < len(self.documents):
            return None
        return self._computed[_HEAD][~self._kept]

    def _own(self, rows: Any) -> Any:
        return rows if self._kept.all() else rows[self._kept]  # a copy of all would double the memory

    @property
    def _labels(self) -> npt.NDArray[Any]:
        assert self.documents.labels is not None
        return self.documents.labels

    @property
    def _probed_rows(self) -> npt.NDArray[np.int64]:
        count = len(self.documents)
        if count <= PROBED_ROWS:
            return np.arange(count)
        drawn = np.random.default_rng(self._settings.training.seed).permutation(count)[:PROBED_ROWS]
        return np.sort(drawn)

    @property
    def _options(self) -> dict[str, Any]:
        balanced = self._settings.loss.class_weights == "balanced"
        return {"head": self._settings.model.head, "balanced": balanced}

    def _fit(self, vectors: Any, labels: npt.NDArray[Any], **more: Any) -> LinearMap:
        return fit_probe(vectors, labels, self._n_classes, **self._options, **more)

    def _strength(self, vectors: Any) -> float:
        labels, seed = self._labels, self._settings.training.seed
        folds = stratified_folds(single_labels(labels).tolist(), CHOOSING_FOLDS, seed)
        return choose_strength(vectors, labels, self._n_classes, folds, **self._options)
