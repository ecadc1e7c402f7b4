"""The keyword set K: its keywords with their scores, and where they occur in a document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.errors import ConfigError
from masker.registry import KEYWORD_SCHEMES

Ids = npt.NDArray[np.int64]

#: Keywords and tokens of a vocabulary that anybody has use for; a file could name any number.
MOST_KEYWORDS = 250_000
MOST_TOKENS = 10_000_000


@dataclass(frozen=True)
class Keyword:
    """One keyword. The paper's schemes select single tokens; a user's word may span several."""

    word: str
    token_ids: tuple[int, ...]
    score: float


@dataclass(frozen=True)
class KeywordSet:
    """A ranked set of keywords."""

    source: str  # the scheme that selected them, such as ``attention``, or ``user``
    keywords: tuple[Keyword, ...]  # best first
    vocabulary_size: int

    def __len__(self) -> int:
        return len(self.keywords)

    def __iter__(self) -> Iterator[Keyword]:
        return iter(self.keywords)

    @property
    def words(self) -> list[str]:
        """The distinct words, best first; a word may have several token forms."""
        return list(dict.fromkeys(keyword.word for keyword in self.keywords))

    @cached_property
    def target_ids(self) -> Ids:
        """Vocabulary ids that f_tok predicts, in the order of its outputs.

        The keyword vocabulary, unless the scheme asks for the whole one: the paper reconstructs random keywords over
        the whole vocabulary.
        """
        if self.source in KEYWORD_SCHEMES and KEYWORD_SCHEMES.get(self.source).whole_vocabulary:
            return np.arange(self.vocabulary_size, dtype=np.int64)
        ids = {token_id for keyword in self.keywords for token_id in keyword.token_ids}
        return np.array(sorted(ids), dtype=np.int64)

    @cached_property
    def target_index(self) -> Ids:
        """(V,) index of each vocabulary id in :attr:`target_ids`; −100 for ids that are not targets."""
        index = np.full(self.vocabulary_size, -100, dtype=np.int64)
        index[self.target_ids] = np.arange(len(self.target_ids))
        return index

    @cached_property
    def _is_single(self) -> npt.NDArray[np.bool_]:
        table = np.zeros(self.vocabulary_size, dtype=bool)
        table[[keyword.token_ids[0] for keyword in self.keywords if len(keyword.token_ids) == 1]] = True
        return table

    @cached_property
    def _phrases(self) -> list[tuple[int, ...]]:
        return [keyword.token_ids for keyword in self.keywords if len(keyword.token_ids) > 1]

    def find(self, input_ids: Ids) -> npt.NDArray[np.bool_]:
        """(…, T) true at positions of ``input_ids`` that belong to a keyword; a phrase must match as a whole."""
        found = self._is_single[input_ids]
        width = input_ids.shape[-1]
        for phrase in self._phrases:
            length = len(phrase)
            if length > width:
                continue
            starts = np.ones((*input_ids.shape[:-1], width - length + 1), dtype=bool)
            for offset, token_id in enumerate(phrase):
                starts &= input_ids[..., offset : width - length + 1 + offset] == token_id
            for offset in range(length):
                found[..., offset : width - length + 1 + offset] |= starts
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "vocabulary_size": self.vocabulary_size,
            "keywords": [
                {"word": keyword.word, "token_ids": list(keyword.token_ids), "score": keyword.score}
                for keyword in self.keywords
            ],
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> KeywordSet:
        try:
            size = int(content["vocabulary_size"])
            if size > MOST_TOKENS or len(content["keywords"]) > MOST_KEYWORDS:
                raise ValueError(f"{len(content['keywords'])} keywords of a vocabulary of {size}")
            keywords = tuple(
                Keyword(str(row["word"]), tuple(int(i) for i in row["token_ids"]), float(row["score"]))
                for row in content["keywords"]
            )
            source = str(content["source"])
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(
                f"this is not a saved keyword set ({error!r}); create one with 'masker keywords'"
            ) from None
        if any(not keyword.token_ids or not 0 <= min(keyword.token_ids) <= max(keyword.token_ids) < size
               for keyword in keywords):  # fmt: skip
            raise ConfigError(f"the keyword set has token ids outside its vocabulary of {size}; create it again")
        return cls(source, keywords, size)

    def dumps(self) -> str:
        return json.dumps(self.to_json(), ensure_ascii=False, indent=1)
