"""Documents with some of their words hidden, and what a model answers.

A hidden word is replaced by the mask token, as in the paper, or dropped. Models trained on masked text recognise mask
tokens; a text with words dropped looks like any short text to every model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from masker.audit.audited_model import AuditedModel, label_indices
from masker.audit.words import Flags, Floats, Ids, Vocabulary, WordedDocuments, read_words
from masker.documents import Documents
from masker.documents.encoding import Encoded
from masker.documents.word_spans import SPECIAL
from masker.errors import ConfigError
from masker.progress import progress_bar

#: Token ids and token types of one row; types are ``None`` if the tokenizer has none.
TokenRow = tuple[Ids, Ids | None]


@dataclass
class DistinctRows:
    """Rows for the model without repeats: each is computed once."""

    ids: list[Ids] = field(default_factory=list)
    types: list[Ids | None] = field(default_factory=list)
    _place: dict[tuple[bytes, bytes], int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, row: TokenRow) -> int:
        """The position of a row, which is appended if it is new."""
        ids, types = row
        key = (ids.tobytes(), b"" if types is None else types.tobytes())
        place = self._place.setdefault(key, len(self.ids))
        if place == len(self.ids):
            self.ids.append(ids)
            self.types.append(types)
        return place

    def encoded(self) -> Encoded:
        types = [row for row in self.types if row is not None]
        return Encoded(self.ids, types if types else None, None, np.arange(len(self.ids)))


class Hider:
    """Hides words of documents.

    Raises:
        ConfigError: When ``masking`` is ``mask`` and the tokenizer has no mask token.
    """

    def __init__(self, documents: WordedDocuments, tokenizer: Any, masking: Literal["mask", "drop"]) -> None:
        if masking == "mask" and tokenizer.mask_token_id is None:
            raise ConfigError("masking must be drop for a model whose tokenizer has no mask token; got 'mask'")
        self._documents = documents
        self._mask_id = tokenizer.mask_token_id if masking == "mask" else None
        fallback = (tokenizer.eos_token_id, tokenizer.bos_token_id, tokenizer.unk_token_id)
        self._nothing = next((token for token in fallback if token is not None), 0)  # for a text with nothing left

    def whole(self, row: int) -> TokenRow:
        types = self._documents.encoded.token_type_ids
        return self._documents.encoded.input_ids[row], None if types is None else types[row]

    def without(self, row: int, hidden: Flags) -> TokenRow:
        """The document with the flagged of its (W,) words hidden."""
        return self._hide(row, self._tokens(row, hidden))

    def bare(self, row: int, kept: Flags) -> TokenRow:
        """The document with everything hidden except the flagged of its (W,) words and special tokens."""
        content = self._documents.word_of_token[row] > SPECIAL
        return self._hide(row, content & ~self._tokens(row, kept))

    def _tokens(self, row: int, flagged: Flags) -> Flags:
        of_token = self._documents.word_of_token[row]
        chosen = np.zeros(len(of_token), dtype=bool)
        inside = of_token >= 0
        chosen[inside] = flagged[of_token[inside]]
        return chosen

    def _hide(self, row: int, hidden: Flags) -> TokenRow:
        ids, types = self.whole(row)
        if self._mask_id is not None:
            return np.where(hidden, self._mask_id, ids), types
        if hidden.all():
            return np.array([self._nothing]), None if types is None else np.zeros(1, dtype=np.int64)
        return ids[~hidden], None if types is None else types[~hidden]


@dataclass(frozen=True)
class AnsweredDocuments:
    """Documents as a model reads them, with its answers."""

    documents: Documents
    gold: Ids  # (N,) the model output that each label stands for
    words: WordedDocuments
    hider: Hider
    probabilities: Floats  # (N, C) the model's answers

    def __len__(self) -> int:
        return len(self.words)

    @property
    def n_classes(self) -> int:
        return int(self.probabilities.shape[1])

    @property
    def predicted(self) -> Ids:
        """(N,) the most probable class ŷ(x)."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    @property
    def confidences(self) -> Floats:
        """(N,) the probability of that class."""
        return np.asarray(self.probabilities.max(axis=1))


def answer_documents(
    model: AuditedModel, documents: Documents, vocabulary: Vocabulary, masking: Literal["mask", "drop"]
) -> AnsweredDocuments:
    """Run the model on whole documents; adds their words to the vocabulary."""
    words = read_words(model.tokenizer, documents, model.max_length, vocabulary)
    hider = Hider(words, model.tokenizer, masking)
    rows = DistinctRows()
    places = [rows.add(hider.whole(row)) for row in range(len(words))]
    with progress_bar(len(rows), "whole texts", "text") as bar:
        probabilities = model.probabilities(rows.encoded(), bar.update)[places]
    return AnsweredDocuments(documents, label_indices(documents, model.classes), words, hider, probabilities)
