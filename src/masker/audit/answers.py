"""What a model says of whole documents, and of documents without one of their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masker.audit.labels import label_indices
from masker.audit.model import AuditedModel
from masker.audit.views import Hider, ViewRows
from masker.audit.words import Ids, Vocabulary, WordedDocuments, read_words
from masker.config import AuditSettings
from masker.documents import Documents
from masker.progress import progress_bar

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class AnsweredDocuments:
    """Documents as a model reads them, with its answers.

    Attributes:
        documents: The documents.
        gold: (N,) the output that the label of each means.
        words: Their tokens and words.
        hider: Hides words of theirs.
        probabilities: (N, C) the model's answers.
    """

    documents: Documents
    gold: Ids
    words: WordedDocuments
    hider: Hider
    probabilities: Floats

    def __len__(self) -> int:
        return len(self.words)

    @property
    def n_classes(self) -> int:
        """C."""
        return int(self.probabilities.shape[1])

    @property
    def predicted(self) -> Ids:
        """(N,) the most probable class ŷ(x)."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    @property
    def confidences(self) -> Floats:
        """(N,) its probability."""
        return np.asarray(self.probabilities.max(axis=1))


def ask(
    model: AuditedModel, documents: Documents, classes: Sequence[str], vocabulary: Vocabulary, settings: AuditSettings
) -> AnsweredDocuments:
    """Read documents and let the model answer; their words join the vocabulary."""
    words = read_words(model.tokenizer, documents, model.max_length, vocabulary)
    hider = Hider(words, model.tokenizer, settings.masking)
    rows = ViewRows()
    places = [rows.add(*hider.whole(row)) for row in range(len(words))]
    with progress_bar(len(rows.ids), "whole texts", "text") as bar:
        probabilities = model.probabilities(rows, bar.update)[places]
    return AnsweredDocuments(documents, label_indices(documents, classes), words, hider, probabilities)


@dataclass(frozen=True)
class Occlusions:
    """What becomes of answers when one word alone is hidden, P times.

    Attributes:
        rows: (P,) the document.
        words: (P,) the word, hidden wherever it stands in the document.
        probabilities: (P, C) the answer without it.
        drops: (P,) f_ŷ(x) − f_ŷ(x − w), the confidence that is lost.
        flipped: (P,) whether the most probable class is another one.
    """

    rows: Ids
    words: Ids
    probabilities: Floats
    drops: Floats
    flipped: npt.NDArray[np.bool_]


def occlude(
    model: AuditedModel, answered: AnsweredDocuments, wanted: npt.NDArray[np.bool_], title: str = "single keywords"
) -> Occlusions:
    """Hide words one at a time.

    Args:
        model: The model.
        answered: Documents with its answers.
        wanted: (C, V) which words to try in documents of each predicted class.
        title: Of the progress bar.
    """
    rows = ViewRows()
    tries: list[tuple[int, int]] = []
    places = []
    for row, label in enumerate(answered.predicted):
        words = answered.words.words[row]
        for word in np.unique(words[wanted[label, words]]):
            tries.append((row, int(word)))
            places.append(rows.add(*answered.hider.without(row, words == word)))
    pairs = np.array(tries, dtype=np.int64).reshape(-1, 2)
    probabilities = np.empty((0, answered.n_classes))
    if tries:
        with progress_bar(len(rows.ids), title, "text") as bar:
            probabilities = model.probabilities(rows, bar.update)[places]
    classes = answered.predicted[pairs[:, 0]]
    drops = answered.confidences[pairs[:, 0]] - probabilities[np.arange(len(pairs)), classes]
    return Occlusions(pairs[:, 0], pairs[:, 1], probabilities, drops, probabilities.argmax(axis=1) != classes)
