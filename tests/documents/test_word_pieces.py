"""Looking words up gives the tokenizer's own ids."""

from __future__ import annotations

import random

import numpy as np
import pytest
from transformers import AutoTokenizer

from masker.documents import encoding, word_pieces
from masker.documents.encoding import encode

# Spaces of all kinds, what the normalizer deletes, accents, wide characters, special tokens, and plain words.
ALPHABET = (
    [chr(code) for code in range(1, 400)]
    + list("\x85\xa0\u200b\u200d\u2028\u3000\u4e2d\u6587\U0001f600\u0301\u03a3\u0130\ufb01\ufffd\xad\u0600")
    + [" "] * 60
    + list("abcdefgh .,") * 8
    + ["[SEP]", "[MASK]", "[PAD]"]
)


@pytest.fixture
def tokenizer(tiny_backbones):
    return AutoTokenizer.from_pretrained(tiny_backbones["bert"])


def directly(monkeypatch, *arguments, **options):
    with monkeypatch.context() as patch:
        patch.setattr(encoding, "_MANY_TEXTS", 10**9)
        return encode(*arguments, **options)


def same(left, right):
    assert [ids.tolist() for ids in left.input_ids] == [ids.tolist() for ids in right.input_ids]
    assert [ids.tolist() for ids in left.token_type_ids] == [ids.tolist() for ids in right.token_type_ids]
    assert left.document.tolist() == right.document.tolist()


@pytest.mark.parametrize("max_length", [8, 40, 512])
def test_ids_of_wild_texts_are_the_tokenizers_own(tokenizer, monkeypatch, max_length):
    draw = random.Random(0)
    texts = ["".join(draw.choices(ALPHABET, k=draw.randrange(120))) for _ in range(1000)]
    labels = np.arange(1000)
    quick = encode(tokenizer, texts, None, max_length, labels=labels)
    assert word_pieces._known[tokenizer]._pieces
    same(quick, directly(monkeypatch, tokenizer, texts, None, max_length, labels=labels))
    assert quick.labels.tolist() == labels.tolist()


def test_words_forgotten_are_learned_again(tokenizer, monkeypatch):
    texts = [f"a b c{n} d" for n in range(40)]
    monkeypatch.setattr(word_pieces, "_MOST_WORDS", 3)
    for _ in range(2):
        same(encode(tokenizer, texts, None, 16), directly(monkeypatch, tokenizer, texts, None, 16))


@pytest.mark.parametrize("family", ["roberta", "albert"])
def test_other_tokenizers_keep_their_own_way(tiny_backbones, family):
    tokenizer = AutoTokenizer.from_pretrained(tiny_backbones[family])
    assert not word_pieces.cuts_at_spaces(tokenizer.backend_tokenizer)
    assert len(encode(tokenizer, ["a b"] * 40, None, 16)) == 40


def test_an_added_token_with_a_space_is_respected(tokenizer, monkeypatch):
    texts = ["in new york today"] * 40
    before = encode(tokenizer, texts, None, 16)
    tokenizer.add_tokens(["new york"])
    after = encode(tokenizer, texts, None, 16)
    same(after, directly(monkeypatch, tokenizer, texts, None, 16))
    assert after.input_ids[0].tolist() != before.input_ids[0].tolist()


def test_a_word_added_later_is_seen(tokenizer, monkeypatch):
    texts = ["zebra abc"] * 40
    encode(tokenizer, texts, None, 16)
    tokenizer.add_tokens(["zebra"])
    same(encode(tokenizer, texts, None, 16), directly(monkeypatch, tokenizer, texts, None, 16))
