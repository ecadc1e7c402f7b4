"""Tokenizing many texts word by word, each distinct word once.

WordPiece tokenizers of the BERT kind treat every stretch of text between spaces by itself. A corpus repeats its words,
so looking them up is several times faster than cutting each anew. The result is the tokenizer's own, to the last id.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any
from weakref import WeakKeyDictionary

#: Characters that Python takes for spaces and BERT's normalizer deletes: what they part is one word to it.
_NO_SPACE = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
#: Distinct words that are remembered; beyond it all are forgotten.
_MOST_WORDS = 1 << 20

_known: WeakKeyDictionary[Any, WordPieces] = WeakKeyDictionary()


class WordPieces:
    """The pieces of the words seen so far.

    Args:
        backend: A tokenizer for which :func:`cuts_at_spaces` holds, without truncation or padding.
    """

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self._added = len(backend.get_added_tokens_decoder())
        self._pieces: dict[str, list[int]] = {}

    def belongs_to(self, backend: Any) -> bool:
        """Whether these are the pieces of ``backend`` as it is now: words may have been added to it."""
        return self._backend is backend and self._added == len(backend.get_added_tokens_decoder())

    def encode(self, texts: Sequence[str], room: int) -> list[list[int]]:
        """The first ``room`` token ids of each text, without special tokens."""
        words = [text.split() if not _NO_SPACE.search(text) else [text] for text in texts]
        if len(self._pieces) > _MOST_WORDS:
            self._pieces.clear()
        # A text that is taken whole is not worth remembering, but this keeps one way for all.
        new = list(set(chain.from_iterable(words)).difference(self._pieces))
        encodings = self._backend.encode_batch_fast(new, add_special_tokens=False)
        self._pieces.update(zip(new, (encoding.ids for encoding in encodings), strict=True))
        pieces = self._pieces.__getitem__
        return [list(islice(chain.from_iterable(map(pieces, row)), room)) for row in words]


def word_pieces(tokenizer: Any) -> WordPieces | None:
    """The word-by-word form of a tokenizer that is now set to neither truncate nor pad; ``None`` if it has none."""
    backend = tokenizer.backend_tokenizer
    if not cuts_at_spaces(backend):
        return None
    known = _known.get(tokenizer)
    if known is None or not known.belongs_to(backend):
        known = _known[tokenizer] = WordPieces(backend)
    return known


def cuts_at_spaces(backend: Any) -> bool:
    """Whether a tokenizer treats what lies between spaces by itself."""
    kinds = (type(backend.normalizer).__name__, type(backend.pre_tokenizer).__name__, type(backend.model).__name__)
    if kinds != ("BertNormalizer", "BertPreTokenizer", "WordPiece"):
        return False
    added = backend.get_added_tokens_decoder().values()
    return not any(token.lstrip or token.rstrip or token.content.split() != [token.content] for token in added)
