"""Running a model over the views of documents that an audit compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masker.audit.answers import AnsweredDocuments
from masker.audit.model import AuditedModel
from masker.audit.reliance import Confidences
from masker.audit.views import ViewRows, shares_of
from masker.audit.words import Flags, Ids
from masker.config import AuditSettings
from masker.masking.draws import document_draws

#: Documents whose views are made together: memory for their rows, and enough of them to sort by length.
_CHUNK = 64


@dataclass(frozen=True)
class Measured:
    """What a model says of every view of N documents.

    Attributes:
        shares: The shares of the keywords that were masked, the last is 1.
        views: Names of the V views: ``whole``, ``bare keywords``, ``bare random``, ``empty``, and for each share
            ``keywords <share>`` and ``random <share>``.
        confidence: (N, V) probability of the class that the model gives to the whole document.
        predicted: (N, V) the most probable class.
        keyword_count: (N,) keywords of each document, repeats counted.
        word_count: (N,) words of each document.
    """

    shares: list[float]
    views: list[str]
    confidence: npt.NDArray[np.float64]
    predicted: Ids
    keyword_count: Ids
    word_count: Ids

    def column(self, view: str) -> int:
        """The place of a view."""
        return self.views.index(view)

    def confidences(self) -> Confidences:
        """What the reliance is made of."""
        names = ("whole", share_view("keywords", 1.0), share_view("random", 1.0), "bare keywords", "bare random")
        return Confidences(*(self.confidence[:, self.column(name)] for name in (*names, "empty")))


def share_view(kind: str, share: float) -> str:
    """The name of a view with a share of its keywords, or as many random words, masked."""
    return f"{kind} {share:g}"


def measure(
    model: AuditedModel,
    answered: AnsweredDocuments,
    is_keyword: Flags,
    is_stop_word: Flags,
    settings: AuditSettings,
    advance: Callable[[int], None],
) -> Measured:
    """Compare the views.

    The control for keywords are random other words of the same document, as many of them; content words as long as
    there are any, then stop words. Which ones is a function of seed and document, so every model sees the same.

    Args:
        model: The model.
        answered: N documents.
        is_keyword: (V,) whether each word of the vocabulary is a keyword.
        is_stop_word: Likewise.
        settings: Shares and seed.
        advance: Called with the number of documents done.
    """
    documents, hider = answered.words, answered.hider
    shares = sorted({*settings.shares, 1.0})
    views = ["whole", "bare keywords", "bare random", "empty"]
    views += [share_view(kind, share) for kind in ("keywords", "random") for share in shares]
    shape = (len(documents), len(views))
    confidence, predicted = np.empty(shape), np.empty(shape, dtype=np.int64)
    keyword_count = np.zeros(len(documents), dtype=np.int64)
    for start in range(0, len(documents), _CHUNK):
        chunk = range(start, min(start + _CHUNK, len(documents)))
        rows = ViewRows()
        places = []
        for row in chunk:
            words = documents.words[row]
            keyword = is_keyword[words]
            keyword_count[row] = keyword.sum()
            keywords_first, others_first = _orders(row, keyword, is_stop_word[words], settings.seed)
            draw = document_draws(settings.seed, 1, np.array([row]), 1)[0, 0, 0]
            counts = shares_of(int(keyword.sum()), shares, float(draw))
            # A document may have fewer other words than keywords.
            random = _first(others_first, min(int(keyword.sum()), int((~keyword).sum())))
            none = np.zeros(len(words), dtype=bool)
            made = [hider.whole(row), hider.bare(row, keyword), hider.bare(row, random), hider.bare(row, none)]
            made += [hider.without(row, _first(keywords_first, count)) for count in counts]
            made += [hider.without(row, _first(others_first, count) & ~keyword) for count in counts]
            places.append([rows.add(*view) for view in made])
        probabilities = model.probabilities(rows)[np.array(places)]  # (chunk, V, C)
        whole = probabilities[:, 0].argmax(axis=1)
        confidence[chunk] = np.take_along_axis(probabilities, whole[:, None, None], axis=2)[:, :, 0]
        predicted[chunk] = probabilities.argmax(axis=2)
        advance(len(chunk))
    word_count = np.array([len(words) for words in documents.words], dtype=np.int64)
    return Measured(shares, views, confidence, predicted, keyword_count, word_count)


def _orders(row: int, keyword: Flags, stop_word: Flags, seed: int) -> tuple[Ids, Ids]:
    """The words of a document in two random orders: keywords first, and other content words, then others, first."""
    draws = document_draws(seed, 0, np.array([row]), len(keyword))[:, 0]
    keywords_first = np.lexsort((draws[0], ~keyword))
    others_first = np.lexsort((draws[1], stop_word, keyword))
    return keywords_first, others_first


def _first(order: Ids, count: int) -> Flags:
    flags = np.zeros(len(order), dtype=bool)
    flags[order[:count]] = True
    return flags
