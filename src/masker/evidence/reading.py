"""A document as the model reads it, word by word, and versions of it with words dropped or masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masker.documents.encoding import Encoded, encodings_of
from masker.documents.word_spans import SPECIAL, Span, words_of_tokens
from masker.model import Model

Ids = npt.NDArray[np.int64]
#: True at some tokens, for each window.
WindowFlags = list[npt.NDArray[np.bool_]]


@dataclass(frozen=True)
class Reading:
    """The rows of one document, one for each window, and its W words.

    Attributes:
        ids, types: (T,) token ids and token types of each row; no types if the tokenizer has none.
        of_token: (T,) number of the word that each token belongs to, PUNCTUATION or SPECIAL.
        offsets: (T, 3) where each token is, as a span.
        words: (W,) in lower case.
        spans: (W,) where they are.
    """

    ids: list[Ids]
    types: list[Ids] | None
    of_token: list[Ids]
    offsets: list[Ids]
    words: list[str]
    spans: list[Span]

    @property
    def tokens(self) -> int:
        return sum(len(row) for row in self.ids)

    def content(self) -> WindowFlags:
        """Tokens that are not special."""
        return [row != SPECIAL for row in self.of_token]

    def of_words(self, numbers: Sequence[int]) -> WindowFlags:
        """Tokens of these words."""
        return [np.isin(row, np.asarray(numbers)) for row in self.of_token]

    def read_to(self, texts: int) -> list[int]:
        """How many characters of each text the model reads."""
        ends = [0] * texts
        for offsets, content in zip(self.offsets, self.content(), strict=True):
            for part in range(texts):
                ends[part] = max(ends[part], int(offsets[content & (offsets[:, 0] == part), 2].max(initial=0)))
        return ends

    def spans_of(self, flags: WindowFlags, texts: Sequence[str]) -> list[Span]:
        """Where flagged tokens are; tokens that touch make one span."""
        flagged = {
            tuple(row) for rows, chosen in zip(self.offsets, flags, strict=True) for row in rows[chosen].tolist()
        }
        spans: list[Span] = []
        for part, first, end in sorted(flagged):
            text = texts[part][first:end]
            start = first + len(text) - len(text.lstrip())  # tokens of bytes may begin with the space before a word
            if spans and spans[-1][0] == part and first <= spans[-1][2]:
                spans[-1] = (part, spans[-1][1], max(end, spans[-1][2]))
            elif end > start:
                spans.append((part, start, end))
        return spans


def read_document(model: Model, texts: Sequence[str]) -> Reading:
    """Read a text, or a text and its pair, as the model does."""
    pair, overlap = texts[1] if len(texts) > 1 else None, model.settings.model.overlap
    rows = encodings_of(model.tokenizer, texts[0], pair, model.max_length, window_overlap=overlap)
    found = [words_of_tokens(row, texts) for row in rows]
    # Windows overlap, and a window may end within a word: a word is known by its start.
    longest: dict[tuple[int, int], tuple[int, str]] = {}
    for window in found:
        for word, (part, start, end) in zip(window.words, window.spans, strict=True):
            longest[part, start] = max((end, word), longest.get((part, start), (end, word)))
    numbers = {start: number for number, start in enumerate(sorted(longest))}
    of_token, offsets = [], []
    for row, window in zip(rows, found, strict=True):
        inside, of_row = window.of_token >= 0, window.of_token.copy()
        number = np.array([numbers[part, start] for part, start, _ in window.spans], dtype=np.int64)
        of_row[inside] = number[of_row[inside]]
        of_token.append(of_row)
        spans = [(part or 0, *span) for part, span in zip(row.sequence_ids, row.offsets, strict=True)]
        offsets.append(np.array(spans, dtype=np.int64).reshape(-1, 3))
    has_types = "token_type_ids" in model.tokenizer.model_input_names
    return Reading(
        [np.array(row.ids, dtype=np.int64) for row in rows],
        [np.array(row.type_ids, dtype=np.int64) for row in rows] if has_types else None,
        of_token,
        offsets,
        [longest[start][1] for start in numbers],
        [(*start, longest[start][0]) for start in numbers],
    )


class Variants:
    """Versions of one document; number 0 is the document itself. A window that stays as it is is computed once.

    Args:
        reading: The document.
        nothing: The token that stands for a row of which nothing is left.

    Attributes:
        rows: The row of :meth:`encoded` for every window of every version.
        document: The number of the version, likewise.
    """

    def __init__(self, reading: Reading, nothing: int) -> None:
        self._reading, self._nothing = reading, nothing
        self._ids, self._types = list(reading.ids), list(reading.types or [])
        self.rows, self.document = list(range(len(reading.ids))), [0] * len(reading.ids)

    def add(self, hidden: WindowFlags, mask_id: int | None = None) -> int:
        """Replace the flagged tokens by the mask token, or drop them; returns the number of the version."""
        number = self.document[-1] + 1
        types: Sequence[Ids | None] = self._reading.types or [None] * len(hidden)
        for window, (ids, of_type, flags) in enumerate(zip(self._reading.ids, types, hidden, strict=True)):
            self.document.append(number)
            if not flags.any():
                self.rows.append(window)
                continue
            self.rows.append(len(self._ids))
            kept = np.ones_like(flags) if mask_id is not None else ~flags
            left = kept.any()
            self._ids.append(np.where(flags, mask_id, ids) if mask_id is not None else ids[kept])
            if not left:
                self._ids[-1] = np.array([self._nothing])
            if of_type is not None:
                self._types.append(of_type[kept] if left else np.zeros(1, dtype=np.int64))
        return number

    def encoded(self) -> Encoded:
        """The distinct rows, each as a document of its own."""
        return Encoded(self._ids, self._types or None, None, np.arange(len(self._ids)))
