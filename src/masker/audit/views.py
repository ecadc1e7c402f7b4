"""Documents with some of their words hidden.

A hidden word is replaced by the mask token, as in the paper, or left out. Models that were trained on masked text
recognise mask tokens; a text with words left out looks like any short text to every model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from masker.audit.words import Flags, Ids, WordedDocuments
from masker.documents.encoding import Encoded
from masker.errors import ConfigError


@dataclass
class ViewRows:
    """Rows for the model; a row that is there already is not added again, so that it is computed once."""

    ids: list[Ids] = field(default_factory=list)
    types: list[Ids] = field(default_factory=list)
    _place: dict[tuple[bytes, bytes], int] = field(default_factory=dict)

    def add(self, ids: Ids, types: Ids | None) -> int:
        """The place of a row among the rows."""
        kinds = np.zeros(0, dtype=np.int64) if types is None else types
        place = self._place.setdefault((ids.tobytes(), kinds.tobytes()), len(self.ids))
        if place == len(self.ids):
            self.ids.append(ids)
            self.types.append(kinds)
        return place

    def encoded(self, *, has_types: bool) -> Encoded:
        """The rows as the model takes them."""
        return Encoded(self.ids, self.types if has_types else None, None, np.arange(len(self.ids)))


class Hider:
    """Hides words of documents.

    Args:
        documents: The documents.
        tokenizer: Gives the mask token, and a token for a text of which nothing is left.
        masking: ``mask`` or ``drop``.

    Raises:
        ConfigError: When words are to be masked and the tokenizer has no mask token.
    """

    def __init__(self, documents: WordedDocuments, tokenizer: Any, masking: Literal["mask", "drop"]) -> None:
        if masking == "mask" and tokenizer.mask_token_id is None:
            raise ConfigError("masking must be drop for this model, whose tokenizer has no mask token; got 'mask'")
        self._documents = documents
        self._mask_id = tokenizer.mask_token_id if masking == "mask" else None
        standing = (tokenizer.eos_token_id, tokenizer.bos_token_id, tokenizer.unk_token_id)
        self._nothing = next((token for token in standing if token is not None), 0)

    def whole(self, row: int) -> tuple[Ids, Ids | None]:
        """Token ids and token types of a document as it is."""
        types = self._documents.encoded.token_type_ids
        return self._documents.encoded.input_ids[row], None if types is None else types[row]

    def without(self, row: int, hidden: Flags) -> tuple[Ids, Ids | None]:
        """The document with the flagged of its (W,) words hidden."""
        return self._hide(row, self._tokens(row, hidden))

    def bare(self, row: int, kept: Flags) -> tuple[Ids, Ids | None]:
        """The document with everything hidden but the flagged of its (W,) words; special tokens stay."""
        content = self._documents.word_of_token[row] > -2
        return self._hide(row, content & ~self._tokens(row, kept))

    def _tokens(self, row: int, flagged: Flags) -> Flags:
        of_token = self._documents.word_of_token[row]
        chosen = np.zeros(len(of_token), dtype=bool)
        inside = of_token >= 0
        chosen[inside] = flagged[of_token[inside]]
        return chosen

    def _hide(self, row: int, hidden: Flags) -> tuple[Ids, Ids | None]:
        ids, types = self.whole(row)
        if self._mask_id is not None:
            return np.where(hidden, self._mask_id, ids), types
        if hidden.all():
            return np.array([self._nothing]), None if types is None else np.zeros(1, dtype=np.int64)
        return ids[~hidden], None if types is None else types[~hidden]


def shares_of(count: int, shares: Sequence[float], draw: float) -> list[int]:
    """How many of ``count`` words each share means, rounded at random so that it holds on average over documents.

    Args:
        count: Words there are.
        shares: Shares between 0 and 1.
        draw: One draw from [0, 1) for the document: a word more for a larger share, never fewer.
    """
    return [min(count, int(np.floor(share * count + draw))) for share in shares]
