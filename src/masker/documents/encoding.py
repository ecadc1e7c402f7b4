"""From texts to token ids: long documents are truncated or cut into overlapping windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.documents.word_pieces import word_pieces

Ids = npt.NDArray[np.int64]

#: The number of texts from which the word cache pays off.
_MANY_TEXTS = 16
#: A tokenizer's result takes many times the memory of its ids, so texts are tokenized in batches of this size.
_TEXTS_AT_A_TIME = 1024


@dataclass(frozen=True)
class Encoded:
    """Encoded documents, special tokens included, without padding.

    Attributes:
        input_ids: One array per row.
        token_type_ids: One array per row, if the tokenizer has token types.
        labels: Class index or regression target of each row, or ``None``.
        document: The document each row belongs to; without windows every document is one row.
    """

    input_ids: list[Ids]
    token_type_ids: list[Ids] | None
    labels: npt.NDArray[Any] | None
    document: Ids

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

    def take(self, rows: Sequence[int]) -> Encoded:
        """The given rows, in the given order, each as a document of its own."""
        index = np.asarray(rows, dtype=np.int64)
        return Encoded(
            [self.input_ids[row] for row in index],
            None if self.token_type_ids is None else [self.token_type_ids[row] for row in index],
            None if self.labels is None else self.labels[index],
            np.arange(len(index)),
        )


def encode(
    tokenizer: Any,
    texts: Sequence[str],
    pairs: Sequence[str] | None,
    max_length: int,
    *,
    labels: npt.NDArray[Any] | None = None,
    windows: bool = False,
    window_overlap: float = 0.25,
) -> Encoded:
    """Tokenize documents.

    Args:
        tokenizer: A fast tokenizer of transformers.
        texts: The documents, or the first text of each pair.
        pairs: The second text of each pair, or ``None``.
        max_length: The longest row, special tokens included.
        labels: One per document; each window gets its document's label.
        windows: Cut long documents into windows instead of truncating them.
        window_overlap: The share of a window that the next one repeats.
    """
    if pairs is None and not windows and len(texts) >= _MANY_TEXTS:
        quick = _encode_words(tokenizer, texts, max_length, labels)
        if quick is not None:
            return quick
    stride = 0
    if windows:
        room = max_length - tokenizer.num_special_tokens_to_add(pair=pairs is not None)
        stride = int(window_overlap * (room // 2 if pairs is not None else room))
    has_types = "token_type_ids" in tokenizer.model_input_names
    ids: list[Ids] = []
    types: list[Ids] = []
    document: list[int] = []
    # Calling the tokenizer itself adds checks and copies that cost more than a short text.
    _set_truncation(tokenizer, max_length, stride)
    backend = tokenizer.backend_tokenizer
    # The fast variant skips character offsets, but loses the token types of all windows of a pair except the first.
    tokenize = backend.encode_batch if windows else backend.encode_batch_fast
    inputs = list(texts) if pairs is None else list(zip(texts, pairs, strict=True))
    for start in range(0, len(inputs), _TEXTS_AT_A_TIME):
        for place, row in enumerate(tokenize(inputs[start : start + _TEXTS_AT_A_TIME]), start):
            for window in (row, *row.overflowing) if windows else (row,):
                ids.append(np.array(window.ids, dtype=np.int64))
                document.append(place)
                if has_types:
                    types.append(np.array(window.type_ids, dtype=np.int64))
    of_row = np.array(document, dtype=np.int64)
    return Encoded(ids, types if has_types else None, None if labels is None else labels[of_row], of_row)


def _encode_words(
    tokenizer: Any, texts: Sequence[str], max_length: int, labels: npt.NDArray[Any] | None
) -> Encoded | None:
    """Tokenize single texts through the word cache; ``None`` if the tokenizer does not allow it."""
    _set_truncation(tokenizer, None, 0)
    words = word_pieces(tokenizer)
    frame = None if words is None else _frame(tokenizer)
    if words is None or frame is None:
        return None
    before, after = frame
    rows = [
        np.array([*before, *ids, *after], dtype=np.int64)
        for ids in words.encode(texts, max_length - len(before) - len(after))
    ]
    has_types = "token_type_ids" in tokenizer.model_input_names
    zeros = np.zeros(max_length, dtype=np.int64)  # shared by all rows to save memory
    return Encoded(rows, [zeros[: len(row)] for row in rows] if has_types else None, labels, np.arange(len(rows)))


def _frame(tokenizer: Any) -> tuple[list[int], list[int]] | None:
    """The special tokens before and after a single text; ``None`` if the template does anything else."""
    backend = tokenizer.backend_tokenizer
    bare = backend.encode("a", add_special_tokens=False).ids
    framed = backend.encode("a")
    if len(bare) != 1 or framed.ids.count(bare[0]) != 1 or any(framed.type_ids):
        return None
    place = framed.ids.index(bare[0])
    return framed.ids[:place], framed.ids[place + 1 :]


def _set_truncation(tokenizer: Any, max_length: int | None, stride: int) -> None:
    """Make the tokenizer truncate at ``max_length`` (``None``: never) and not pad."""
    from transformers.tokenization_utils_base import TruncationStrategy
    from transformers.utils import PaddingStrategy

    cut = TruncationStrategy.DO_NOT_TRUNCATE if max_length is None else TruncationStrategy.LONGEST_FIRST
    tokenizer.set_truncation_and_padding(
        padding_strategy=PaddingStrategy.DO_NOT_PAD,
        truncation_strategy=cut,
        max_length=max_length,
        stride=stride,
        pad_to_multiple_of=None,
        padding_side=None,
    )
    backend = tokenizer.backend_tokenizer
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
