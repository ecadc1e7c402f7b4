"""From texts to token ids: long documents are truncated or cut into overlapping windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]

#: A tokenizer's result takes many times the memory of its ids, so texts are tokenized in batches of this size.
_TEXTS_AT_A_TIME = 1024
#: Characters that are tokenized of a text that is truncated. A tokenizer reads all of it before it truncates: one text
#: of 60 million characters took gigabytes and half a minute, for a few hundred tokens.
_READ = 1 << 18


@dataclass(frozen=True)
class Encoded:
    """Encoded documents, special tokens included, without padding."""

    input_ids: list[Ids]
    token_type_ids: list[Ids] | None  # if the tokenizer has token types
    labels: npt.NDArray[Any] | None  # class index, regression target or (C,) flags of the labels of each row
    document: Ids  # the document each row belongs to; without windows every document is one row

    def __len__(self) -> int:
        return len(self.input_ids)

    def __getitem__(self, row: int) -> dict[str, Any]:
        return {
            "input_ids": self.input_ids[row],
            "token_type_ids": None if self.token_type_ids is None else self.token_type_ids[row],
            "label": None if self.labels is None else self.labels[row],
            "row": row,
        }

    @property
    def lengths(self) -> Ids:
        """Tokens in each row."""
        return np.array([len(ids) for ids in self.input_ids], dtype=np.int64)

    @property
    def n_documents(self) -> int:
        return int(self.document[-1]) + 1 if len(self.document) else 0

    def take(self, rows: Sequence[int]) -> Encoded:
        """The given rows, in the given order, each as a document of its own."""
        index = np.asarray(rows, dtype=np.int64)
        return Encoded(
            [self.input_ids[row] for row in index],
            None if self.token_type_ids is None else [self.token_type_ids[row] for row in index],
            None if self.labels is None else self.labels[index],
            np.arange(len(index)),
        )

    def take_documents(self, chosen: npt.NDArray[np.bool_]) -> Encoded:
        """The documents that (N,) flags choose, with all their windows."""
        rows = np.flatnonzero(chosen[self.document])
        numbers = np.cumsum(chosen) - 1
        return replace(self.take(rows.tolist()), document=numbers[self.document[rows]])

    def sample_documents(self, limit: int, seed: int) -> Encoded:
        """At most ``limit`` documents with all their windows, in order."""
        if self.n_documents <= limit:
            return self
        chosen = np.zeros(self.n_documents, dtype=bool)
        chosen[np.random.default_rng(seed).choice(self.n_documents, limit, replace=False)] = True
        return self.take_documents(chosen)


def encodings_of(
    tokenizer: Any, text: str, pair: str | None, max_length: int, *, window_overlap: float | None = None
) -> list[Any]:
    """The rows that :func:`encode` makes of one document, as the ``tokenizers`` library has them: with offsets."""
    _set_truncation(tokenizer, max_length, _stride(tokenizer, max_length, window_overlap, pair=pair is not None))
    [row] = tokenizer.backend_tokenizer.encode_batch([text if pair is None else (text, pair)])
    return [row] if window_overlap is None else [row, *row.overflowing]


def _stride(tokenizer: Any, max_length: int, window_overlap: float | None, *, pair: bool) -> int:
    if window_overlap is None:
        return 0
    room = max_length - int(tokenizer.num_special_tokens_to_add(pair=pair))
    return int(window_overlap * (room // 2 if pair else room))


def encode(
    tokenizer: Any,
    texts: Sequence[str],
    pairs: Sequence[str] | None,
    max_length: int,
    *,
    labels: npt.NDArray[Any] | None = None,
    window_overlap: float | None = None,
) -> Encoded:
    """Tokenize documents with a fast tokenizer into rows of at most ``max_length`` tokens, special ones included.

    ``window_overlap`` cuts long documents into windows, each of which repeats this share of the one before and gets the
    document's label; ``None`` truncates them.
    """
    stride = _stride(tokenizer, max_length, window_overlap, pair=pairs is not None)
    has_types = "token_type_ids" in tokenizer.model_input_names
    ids: list[Ids] = []
    types: list[Ids] = []
    document: list[int] = []
    # Calling the tokenizer itself adds checks and copies that cost more than a short text.
    _set_truncation(tokenizer, max_length, stride)
    backend = tokenizer.backend_tokenizer
    # The fast variant skips character offsets, but loses the token types of all windows of a pair except the first.
    tokenize = backend.encode_batch if window_overlap is not None else backend.encode_batch_fast
    if pairs is None and window_overlap is None:
        texts = [text if len(text) <= _READ else _part_that_fills(tokenizer, text, max_length) for text in texts]
    inputs = list(texts) if pairs is None else list(zip(texts, pairs, strict=True))
    for start in range(0, len(inputs), _TEXTS_AT_A_TIME):
        for place, row in enumerate(tokenize(inputs[start : start + _TEXTS_AT_A_TIME]), start):
            for window in (row, *row.overflowing) if window_overlap is not None else (row,):
                ids.append(np.array(window.ids, dtype=np.int64))
                document.append(place)
                if has_types:
                    types.append(np.array(window.type_ids, dtype=np.int64))
    of_row = np.array(document, dtype=np.int64)
    return Encoded(ids, types if has_types else None, None if labels is None else labels[of_row], of_row)


def _part_that_fills(tokenizer: Any, text: str, max_length: int) -> str:
    """The end of a long text that truncation leaves, cut at a blank; the whole text if that part has too few tokens."""
    if tokenizer.truncation_side == "left":
        at = text.find(" ", len(text) - _READ)
        part = text[at:] if at >= 0 else text
    else:
        part = text[: max(text.rfind(" ", 0, _READ), 0)]
    full = part and len(tokenizer.backend_tokenizer.encode_batch_fast([part])[0].ids) >= max_length
    return part if full else text


def _set_truncation(tokenizer: Any, max_length: int, stride: int) -> None:
    """Truncate to ``max_length`` and do not pad; what is set already stays, as other threads may be reading it."""
    backend = tokenizer.backend_tokenizer
    wanted = {
        "max_length": max_length,
        "stride": stride,
        "strategy": "longest_first",
        "direction": tokenizer.truncation_side,
    }
    before = backend.truncation or {}
    if {name: before.get(name) for name in wanted} != wanted:
        backend.enable_truncation(**wanted)
    if backend.padding is not None:
        backend.no_padding()
    if backend.encode_special_tokens != tokenizer.split_special_tokens:
        backend.encode_special_tokens = tokenizer.split_special_tokens


def token_budget_batches(lengths: Ids, max_tokens: int) -> list[Ids]:
    """Batch rows, longest first, by a budget of ``max_tokens`` padded tokens; a batch has at least one row."""
    order = np.argsort(-lengths, kind="stable")
    batches = []
    start = 0
    while start < len(order):
        count = max(1, max_tokens // max(1, int(lengths[order[start]])))
        batches.append(order[start : start + count])
        start += count
    return batches


def pad_rows(rows: Sequence[Ids], value: int) -> tuple[Ids, Ids]:
    """Pad rows with ``value`` on the right to one (B, T) array; also returns the (B, T) mask, 0 at padding."""
    if len(rows) == 1:
        row = np.array(rows[0], dtype=np.int64, ndmin=2)
        return row, np.ones_like(row)
    lengths = np.array([len(row) for row in rows])
    inside = np.arange(lengths.max()) < lengths[:, None]  # (B, T)
    padded = np.full(inside.shape, value, dtype=np.int64)
    padded[inside] = np.concatenate(rows)
    return padded, inside.astype(np.int64)
