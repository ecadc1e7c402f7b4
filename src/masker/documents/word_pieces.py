"""WordPiece tokenization of many texts, with each distinct word tokenized once.

BERT's WordPiece tokenizers treat the words between spaces independently. Words recur in a corpus, so a lookup is
several times faster than tokenizing each again, and yields exactly the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any
from weakref import WeakKeyDictionary

#: Characters that Python splits at but BERT's normalizer deletes, joining what they separate into one word.
_NO_SPACE = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
#: Cached words; beyond this number the cache is cleared.
_MOST_WORDS = 1 << 20

_known: WeakKeyDictionary[Any, WordPieces] = WeakKeyDictionary()


class WordPieces:
    """A cache of the pieces of each word.

    Args:
        backend: A tokenizer for which :func:`cuts_at_spaces` holds, without truncation or padding.
    """

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self._added = len(backend.get_added_tokens_decoder())
        self._pieces: dict[str, list[int]] = {}

    def belongs_to(self, backend: Any) -> bool:
        """Whether the cache is still valid for ``backend``: tokens may have been added to it since."""
        return self._backend is backend and self._added == len(backend.get_added_tokens_decoder())

    def encode(self, texts: Sequence[str], room: int) -> list[list[int]]:
        """The first ``room`` token ids of each text, without special tokens."""
        words = [text.split() if not _NO_SPACE.search(text) else [text] for text in texts]
        if len(self._pieces) > _MOST_WORDS:
            self._pieces.clear()
        # Texts that cannot be split are cached as well: wasteful but rare, and one code path serves all.
        new = list(set(chain.from_iterable(words)).difference(self._pieces))
        encodings = self._backend.encode_batch_fast(new, add_special_tokens=False)
        self._pieces.update(zip(new, (encoding.ids for encoding in encodings), strict=True))
        pieces = self._pieces.__getitem__
        return [list(islice(chain.from_iterable(map(pieces, row)), room)) for row in words]


def word_pieces(tokenizer: Any) -> WordPieces | None:
    """The word cache of a tokenizer that neither truncates nor pads; ``None`` if it needs context beyond a word."""
    backend = tokenizer.backend_tokenizer
    if not cuts_at_spaces(backend):
        return None
    known = _known.get(tokenizer)
    if known is None or not known.belongs_to(backend):
        known = _known[tokenizer] = WordPieces(backend)
    return known


def cuts_at_spaces(backend: Any) -> bool:
    """Whether a tokenizer treats words between spaces independently."""
    kinds = (type(backend.normalizer).__name__, type(backend.pre_tokenizer).__name__, type(backend.model).__name__)
    if kinds != ("BertNormalizer", "BertPreTokenizer", "WordPiece"):
        return False
    added = backend.get_added_tokens_decoder().values()
    return not any(token.lstrip or token.rstrip or token.content.split() != [token.content] for token in added)
