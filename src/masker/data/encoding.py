"""From texts to token ids: truncation at the head, or overlapping windows over long documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Encoded:
    """Encoded documents, special tokens included, without padding.

    Attributes:
        input_ids: One array for each row.
        token_type_ids: Likewise, for tokenizers that have them.
        labels: Class index or score of each row, or ``None``.
        document: Which document each row is a window of; rows and documents are the same without windows.
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
        """The given rows, in the given order."""
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
        max_length: Longest row, special tokens included. What lies beyond is cut off, or goes to further windows.
        labels: One for each document; a window has its document's label.
        windows: Cut long documents into windows instead of truncating them.
        window_overlap: Part of a window's content that the next window repeats.
    """
    room = max_length - tokenizer.num_special_tokens_to_add(pair=pairs is not None)
    output = tokenizer(
        list(texts),
        None if pairs is None else list(pairs),
        truncation=True,
        max_length=max_length,
        return_overflowing_tokens=windows,
        stride=int(window_overlap * (room // 2 if pairs is not None else room)) if windows else 0,
        return_attention_mask=False,
        verbose=False,
    )
    document = np.asarray(output["overflow_to_sample_mapping"] if windows else np.arange(len(texts)), dtype=np.int64)
    type_ids = output.get("token_type_ids")
    return Encoded(
        [np.asarray(ids, dtype=np.int64) for ids in output["input_ids"]],
        None if type_ids is None else [np.asarray(ids, dtype=np.int64) for ids in type_ids],
        None if labels is None else labels[document],
        document,
    )


def token_budget_batches(lengths: Ids, max_tokens: int) -> list[Ids]:
    """Cut documents, longest first, into batches of at most ``max_tokens`` tokens with padding (at least one row)."""
    order = np.argsort(-lengths, kind="stable")
    batches = []
    start = 0
    while start < len(order):
        count = max(1, max_tokens // max(1, int(lengths[order[start]])))
        batches.append(order[start : start + count])
        start += count
    return batches
