"""Words, the tokens that spell them, and how often they occur."""

from __future__ import annotations

import numpy as np
import pytest

from masker.audit.words import Vocabulary, count_words, read_words, word_numbers
from masker.documents import Documents
from masker.modeling.backbone import load_tokenizer
from tests.conftest import FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_of_every_family_find_their_words(tiny_backbones, family):
    tokenizer = load_tokenizer(tiny_backbones[family])
    text = "The rocket, near the Moonlanding (today)!"
    vocabulary = Vocabulary()
    found = read_words(tokenizer, Documents([text], None, None, "t"), 64, vocabulary)
    assert [vocabulary.words[word] for word in found.words[0]] == [
        "the",
        "rocket",
        "near",
        "the",
        "moonlanding",
        "today",
    ]
    of_token, ids = found.word_of_token[0], found.encoded.input_ids[0]
    assert len(of_token) == len(ids)
    special = np.isin(ids, [tokenizer.cls_token_id, tokenizer.sep_token_id])
    assert (of_token[special] == -2).all() and (of_token[~special] > -2).all()
    assert (of_token == -1).sum() >= 3, "comma, brackets and exclamation mark are not words"
    assert set(of_token[of_token >= 0]) == set(range(6))
    for word in range(6):
        [start, end] = found.spans[0][word][1:]
        spelled = tokenizer.decode(ids[of_token == word]).lower().replace(" ", "")
        if tokenizer.unk_token not in tokenizer.convert_ids_to_tokens(ids[of_token == word]):
            assert text[start:end].lower() in spelled


def test_words_beyond_the_length_are_left_out(tiny_backbones):
    tokenizer = load_tokenizer(tiny_backbones["bert"])
    vocabulary = Vocabulary()
    found = read_words(tokenizer, Documents(["rocket moon orbit"], None, None, "t"), 4, vocabulary)
    assert vocabulary.words == ["rocket", "moon"]
    assert len(found.encoded.input_ids[0]) == 4


def test_words_of_both_texts_of_a_pair(tiny_backbones):
    tokenizer = load_tokenizer(tiny_backbones["bert"])
    vocabulary = Vocabulary()
    found = read_words(tokenizer, Documents(["rocket moon"], ["soup moon"], None, "t"), 32, vocabulary)
    assert [vocabulary.words[word] for word in found.words[0]] == ["rocket", "moon", "soup", "moon"]
    assert [span[0] for span in found.spans[0]] == [0, 0, 1, 1]
    assert found.word_of_token[0].tolist() == [-2, 0, 1, -2, 2, 3, -2]


def test_words_of_whole_documents_ignore_the_length():
    vocabulary = Vocabulary()
    assert [row.tolist() for row in word_numbers(Documents(["a b a", ""], None, None, "t"), vocabulary)] == [
        [0, 1, 0],
        [],
    ]


def test_words_are_counted_by_class_and_corpus():
    """'moon' is 3 of the 4 words of the first corpus, 2 of them in class a; the second corpus has no labels."""
    vocabulary = Vocabulary()
    labelled = Documents(["moon moon", "moon soup"], None, ["a", "b"], "folder/data.csv")
    plain = Documents(["soup"], None, None, "elsewhere/data.csv")
    found = count_words([labelled, plain], vocabulary)
    assert vocabulary.words == ["moon", "soup"]
    assert found.names == ["data.csv (1): a", "data.csv (1): b", "data.csv (2): all"]
    assert found.counts.tolist() == [[2, 0], [1, 1], [0, 1]]
    assert found.per_million(0) == [750_000.0, 0.0] and found.per_million(1) == [250_000.0, 1_000_000.0]
    assert count_words([labelled], vocabulary).names == ["a", "b"], "one corpus needs no prefix"
