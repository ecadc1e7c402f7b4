"""Measuring what masking does to a model's answers: masking many keywords at once, and one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from masker.audit.audit_keywords import ChosenKeywords
from masker.audit.audited_model import AuditedModel
from masker.audit.hiding import AnsweredDocuments, DistinctRows, TokenRow
from masker.audit.occlusion import Occlusions
from masker.audit.reliance import Confidences
from masker.audit.words import Flags, Floats, Ids, Vocabulary, WordCounts
from masker.config import AuditSettings
from masker.masking.draws import document_draws

#: Documents whose views are built together: few enough to hold in memory, enough to sort by length.
_CHUNK = 64
#: Characters of a document that an example shows.
EXCERPT = 200


@dataclass(frozen=True)
class ViewFigures:
    """Accuracy, and mean probability of the class predicted for the whole document."""

    accuracy: float
    confidence: float


@dataclass(frozen=True)
class Measured:
    """The model's answers to V views of N documents.

    The views are ``whole``, ``bare keywords``, ``bare random``, ``empty``, and for each share ``keywords <share>`` and
    ``random <share>``.
    """

    shares: list[float]  # shares of keywords masked; the last is 1
    views: list[str]
    confidence: Floats  # (N, V) probability of the class predicted for the whole document
    predicted: Ids  # (N, V) the most probable class
    gold: Ids  # (N,) the right class
    keyword_count: Ids  # (N,) keywords in each document, repeats counted
    word_count: Ids  # (N,) words in each document

    def figures(self, view: str) -> ViewFigures:
        column = self.views.index(view)
        right = self.predicted[:, column] == self.gold
        return ViewFigures(float(np.mean(right)), float(np.mean(self.confidence[:, column])))

    def confidences(self) -> Confidences:
        """The input of the reliance equation."""
        views = ("whole", share_view("keywords", 1.0), share_view("random", 1.0), "bare keywords", "bare random")
        return Confidences(*(self.confidence[:, self.views.index(view)] for view in (*views, "empty")))


def share_view(kind: str, share: float) -> str:
    """The name of a view with a share of the keywords, or as many random words, masked."""
    return f"{kind} {share:g}"


def measure(
    model: AuditedModel,
    answered: AnsweredDocuments,
    is_keyword: Flags,
    is_stop_word: Flags,
    settings: AuditSettings,
    advance: Callable[[int], None],
) -> Measured:
    """Run the model on every view. The flags are (V,), one a word; ``advance`` gets the number of documents done.

    The control is as many random other words of the same document: content words first, then stop words. The draw
    depends only on seed and document, so every model gets the same words.
    """
    words = answered.words.words
    shares = sorted({*settings.shares, 1.0})
    views = ["whole", "bare keywords", "bare random", "empty"]
    views += [share_view(kind, share) for kind in ("keywords", "random") for share in shares]
    shape = (len(answered), len(views))
    confidence, predicted = np.empty(shape), np.empty(shape, dtype=np.int64)
    for start in range(0, len(answered), _CHUNK):
        chunk = range(start, min(start + _CHUNK, len(answered)))
        rows = DistinctRows()
        places = []
        for row in chunk:
            flags = is_keyword[words[row]], is_stop_word[words[row]]
            places.append([rows.add(view) for view in _views(answered, row, *flags, shares, settings.seed)])
        probabilities = model.probabilities(rows.encoded())[np.array(places)]  # (chunk, V, C)
        whole = probabilities[:, 0].argmax(axis=1)
        confidence[chunk] = np.take_along_axis(probabilities, whole[:, None, None], axis=2)[:, :, 0]
        predicted[chunk] = probabilities.argmax(axis=2)
        advance(len(chunk))
    keyword_count = np.array([is_keyword[row].sum() for row in words], dtype=np.int64)
    word_count = np.array([len(row) for row in words], dtype=np.int64)
    return Measured(shares, views, confidence, predicted, answered.gold, keyword_count, word_count)


def _views(
    answered: AnsweredDocuments, row: int, keyword: Flags, stop_word: Flags, shares: Sequence[float], seed: int
) -> list[TokenRow]:
    """The views of one document, in the order of :attr:`Measured.views`."""
    hider = answered.hider
    draws = document_draws(seed, 0, np.array([row]), len(keyword))[:, 0]
    keywords_first = np.lexsort((draws[0], ~keyword))
    others_first = np.lexsort((draws[1], stop_word, keyword))
    count = int(keyword.sum())
    counts = shares_of(count, shares, float(document_draws(seed, 1, np.array([row]), 1)[0, 0, 0]))
    # A document may have fewer other words than keywords.
    random = _first(others_first, min(count, int((~keyword).sum())))
    none = np.zeros(len(keyword), dtype=bool)
    return [
        hider.whole(row),
        *(hider.bare(row, kept) for kept in (keyword, random, none)),
        *(hider.without(row, _first(keywords_first, part)) for part in counts),
        *(hider.without(row, _first(others_first, part) & ~keyword) for part in counts),
    ]


def shares_of(count: int, shares: Sequence[float], draw: float) -> list[int]:
    """Each share of ``count`` words as a whole number, rounded at random so that shares hold on average.

    All use the document's one ``draw`` from [0, 1), so a larger share never gets fewer words.
    """
    return [min(count, int(np.floor(share * count + draw))) for share in shares]


def _first(order: Ids, count: int) -> Flags:
    flags = np.zeros(len(order), dtype=bool)
    flags[order[:count]] = True
    return flags


@dataclass(frozen=True)
class AuditedKeyword:
    """The effect of one keyword on the measured documents."""

    word: str
    score: float  # in the scheme that found it
    documents: int  # measured documents that contain it
    drop: float  # mean confidence lost in these when it alone is masked
    flips: int  # how many of these then get another answer
    carried: float  # its share of the summed losses of all keywords
    per_million: float  # occurrences per million words of the audited data
    per_million_other: float | None  # likewise in the other corpus, if one was given


@dataclass(frozen=True)
class Flip:
    """A document whose answer changes when one word is masked; its text is cut around that word."""

    before: str
    spelled: str
    after: str
    word: str
    label: str
    answer: str
    confidence: float
    answer_without: str
    confidence_without: float


def keyword_effects(
    chosen: ChosenKeywords, classes: Sequence[str], effects: Occlusions, vocabulary: Vocabulary, counts: WordCounts
) -> dict[str, list[AuditedKeyword]]:
    """The keywords of each class, those that carry most first.

    ``effects`` are those of masking each keyword alone; ``counts`` hold the audited data and possibly another corpus.
    """
    sums = np.zeros(len(vocabulary))
    np.add.at(sums, effects.words, effects.drops)
    having = np.bincount(effects.words, minlength=len(vocabulary))
    flips = np.bincount(effects.words[effects.flipped], minlength=len(vocabulary))
    total = max(float(np.maximum(sums[chosen.words], 0).sum()), 1e-12)
    found: dict[str, list[AuditedKeyword]] = {name: [] for name in classes}
    for word, label, score in zip(chosen.words, chosen.classes, chosen.scores, strict=True):
        per_million, *elsewhere = counts.per_million(int(word))
        found[classes[label]].append(
            AuditedKeyword(
                word=vocabulary.words[word],
                score=float(score),
                documents=int(having[word]),
                drop=float(sums[word] / max(1, having[word])),
                flips=int(flips[word]),
                carried=float(max(0.0, sums[word]) / total),
                per_million=per_million,
                per_million_other=elsewhere[0] if elsewhere else None,
            )
        )
    return {name: sorted(rows, key=lambda row: -row.carried) for name, rows in found.items()}


def example_flips(
    answered: AnsweredDocuments,
    effects: Occlusions,
    chosen: ChosenKeywords,
    classes: Sequence[str],
    vocabulary: Vocabulary,
    per_class: int,
) -> dict[str, list[Flip]]:
    """For each class, the flips by its keywords that lose most confidence; no document appears twice.

    The best example of every keyword comes before the second of any.
    """
    owner = dict(zip(chosen.words.tolist(), chosen.classes.tolist(), strict=True))
    found: dict[str, list[Flip]] = {}
    shown: set[int] = set()
    order = np.flatnonzero(effects.flipped)
    order = order[np.argsort(-effects.drops[order], kind="stable")]
    seen: Counter[int] = Counter()
    rank = []
    for word in effects.words[order].tolist():
        rank.append(seen[word])
        seen[word] += 1
    for place in order[np.argsort(rank, kind="stable")]:
        row, word = int(effects.rows[place]), int(effects.words[place])
        examples = found.setdefault(classes[owner[word]], [])
        if row in shown or len(examples) >= per_class:
            continue
        shown.add(row)
        without = effects.probabilities[place]
        examples.append(
            Flip(
                *_excerpt(answered, row, word),
                word=vocabulary.words[word],
                label=classes[answered.gold[row]],
                answer=classes[answered.predicted[row]],
                confidence=float(answered.confidences[row]),
                answer_without=classes[int(without.argmax())],
                confidence_without=float(without.max()),
            )
        )
    return {name: found[name] for name in classes if found.get(name)}


def _excerpt(answered: AnsweredDocuments, row: int, word: int) -> tuple[str, str, str]:
    """The first occurrence of a word as spelled, with the text around it cut to :data:`EXCERPT` characters."""
    words, documents = answered.words, answered.documents
    part, start, end = words.spans[row][int(np.flatnonzero(words.words[row] == word)[0])]
    text = documents.texts[row] if part == 0 or documents.pairs is None else documents.pairs[row]
    before, after = " ".join(text[:start].split()), " ".join(text[end:].split())
    room = EXCERPT // 2
    lead = " " if text[:start][-1:].isspace() else ""
    tail = " " if text[end : end + 1].isspace() else ""
    return (
        ("…" + before[-room:] if len(before) > room else before) + lead,
        text[start:end],
        tail + (after[:room] + "…" if len(after) > room else after),
    )
