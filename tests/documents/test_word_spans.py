"""Words of texts; :mod:`tests.audit.test_words` has the tokens that spell them."""

from __future__ import annotations

import pytest

from masker.documents.encoding import encodings_of
from masker.documents.word_spans import PUNCTUATION, SPECIAL, word_spans, words_of_tokens
from masker.modeling.backbone import load_tokenizer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The rocket, again!", ["the", "rocket", "again"]),
        ("Don’t 'quote' it's O'Neill's", ["don't", "quote", "it's", "o'neill's"]),
        ("non-stop e.g. 3.5%", ["non", "stop", "e", "g", "3", "5"]),
        ("... -- !? '", []),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("月が綺麗、です", ["月", "が", "綺", "麗", "で", "す"]),
        ("naïve café", ["naïve", "café"]),
    ],
)
def test_words(text, words):
    found = list(word_spans(text))
    assert [word for word, _, _ in found] == words
    assert [text[start:end].lower().replace("’", "'") for _, start, end in found] == words


def test_every_window_knows_where_its_words_are(tiny_backbones):
    """Windows of 5 tokens hold 3 words, and each but the first repeats one (a third)."""
    tokenizer = load_tokenizer(tiny_backbones["bert"])
    text = "rocket moon orbit, planet launch"
    rows = encodings_of(tokenizer, text, None, 5, window_overlap=1 / 3)
    found = [words_of_tokens(row, [text]) for row in rows]
    assert [row.words for row in found] == [["rocket", "moon", "orbit"], ["orbit", "planet"], ["planet", "launch"]]
    assert found[1].of_token.tolist() == [SPECIAL, 0, PUNCTUATION, 1, SPECIAL]
    assert [text[start:end] for _, start, end in found[2].spans] == ["planet", "launch"]


def test_without_windows_a_document_is_one_row(tiny_backbones):
    tokenizer = load_tokenizer(tiny_backbones["bert"])
    [row] = encodings_of(tokenizer, "rocket moon orbit", "soup", 6)
    assert words_of_tokens(row, ["rocket moon orbit", "soup"]).words == ["rocket", "moon", "soup"]
