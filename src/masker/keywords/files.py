"""Keyword lists on disk: the user's words, or a set saved by this package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from masker.errors import ConfigError
from masker.keywords.choice import keywords_from_words, token_word
from masker.keywords.keyword_set import KeywordSet


def read_keywords(path: str | Path, tokenizer: Any) -> KeywordSet:
    """Read a text file with one word a line, a JSON list of words, or a saved :class:`KeywordSet`.

    A saved set is taken with its scores when its tokens mean the same in this tokenizer; otherwise its words are
    looked up anew.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            f"keywords must be attention, frequency, random or a file of words; there is no file '{path}'"
        ) from None
    except (UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"keyword file '{path}' cannot be read as UTF-8 text: {error}") from None
    try:
        content = json.loads(text)
    except ValueError:
        return keywords_from_words(text.splitlines(), tokenizer)
    if isinstance(content, dict):
        saved = KeywordSet.from_json(content)
        if (
            len(saved)
            and saved.vocabulary_size == len(tokenizer)
            and all(keyword.word == _spelled(tokenizer, keyword.token_ids) for keyword in saved)
        ):
            return saved
        return keywords_from_words([word.removeprefix("##") for word in saved.words], tokenizer)
    if isinstance(content, list):
        return keywords_from_words([str(word) for word in content], tokenizer)
    return keywords_from_words(text.splitlines(), tokenizer)


def _spelled(tokenizer: Any, token_ids: tuple[int, ...]) -> str:
    """The word that ``token_ids`` spell in this tokenizer."""
    if len(token_ids) == 1:
        return token_word(tokenizer, token_ids[0])
    return str(tokenizer.decode(list(token_ids))).strip()
