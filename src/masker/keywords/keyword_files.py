"""Keywords that the user brings: a list of words, or a keyword set saved earlier."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from masker.errors import ConfigError, did_you_mean
from masker.keywords.choice import token_word
from masker.keywords.keyword_set import Keyword, KeywordSet
from masker.registry import KEYWORD_SCHEMES


def read_keywords(path: str | Path, tokenizer: Any) -> KeywordSet:
    """Read a text file with one word per line, a JSON list of words, or a saved :class:`KeywordSet`.

    A saved set keeps its source and scores if its token ids spell the same words in this tokenizer; otherwise its
    words are tokenized again.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            f"keywords must be one of {', '.join(KEYWORD_SCHEMES)}, or a file of words; there is no file '{path}'."
            f"{did_you_mean(str(path), KEYWORD_SCHEMES)}"
        ) from None
    except (UnicodeDecodeError, OSError) as error:
        raise ConfigError(
            f"keyword file '{path}' cannot be read ({error}); give UTF-8 text with one word per line"
        ) from None
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    if isinstance(content, dict):
        return _check_saved(KeywordSet.from_json(content), tokenizer)
    words = content if isinstance(content, list) else text.splitlines()
    return keywords_from_words([str(word) for word in words], tokenizer)


def keywords_from_words(words: Sequence[str], tokenizer: Any) -> KeywordSet:
    """A keyword set from the user's words.

    Each word matches as given, in lower case and capitalised, at the start of a text and after a space (byte-level and
    unigram tokenizers encode these differently). A word that the tokenizer splits into pieces is a phrase: it matches
    only where all its pieces stand together.
    """
    keywords: list[Keyword] = []
    seen: set[tuple[int, ...]] = set()
    unknown_id = tokenizer.unk_token_id
    for word in dict.fromkeys(word.strip() for word in words if word.strip()):
        forms = dict.fromkeys(
            tuple(tokenizer.encode(space + variant, add_special_tokens=False))
            for variant in (word, word.lower(), word.capitalize())
            for space in ("", " ")
        )
        usable = [form for form in forms if form and unknown_id not in form]
        if not usable:
            raise ConfigError(
                f"keyword '{word}' is unknown to the backbone's tokenizer; remove it or spell it otherwise"
            )
        keywords += [Keyword(word, form, 1.0) for form in usable if form not in seen]
        seen.update(usable)
    if not keywords:
        raise ConfigError("the keyword list is empty; give at least one word, one per line")
    return KeywordSet("user", tuple(keywords), len(tokenizer))


def _check_saved(saved: KeywordSet, tokenizer: Any) -> KeywordSet:
    """The saved set if it was made with this tokenizer, else a set of the same words."""
    if (
        len(saved)
        and saved.vocabulary_size == len(tokenizer)
        and all(keyword.word == _spelled(tokenizer, keyword.token_ids) for keyword in saved)
    ):
        return saved
    return keywords_from_words([word.removeprefix("##") for word in saved.words], tokenizer)


def _spelled(tokenizer: Any, token_ids: tuple[int, ...]) -> str:
    if len(token_ids) == 1:
        return token_word(tokenizer, token_ids[0])
    return str(tokenizer.decode(list(token_ids))).strip()
