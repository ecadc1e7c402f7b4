"""Words, the tokens that spell them, and documents with words hidden."""

from __future__ import annotations

import numpy as np
import pytest

from masker.audit.views import Hider, ViewRows, shares_of
from masker.audit.words import Vocabulary, read_words, word_numbers, word_spans
from masker.documents import Documents
from masker.errors import ConfigError
from masker.modeling.backbone import load_tokenizer
from tests.conftest import FAMILIES


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
    assert (of_token == -1).sum() >= 3, "comma, brackets and exclamation mark are no words"
    assert set(of_token[of_token >= 0]) == set(range(6))
    for word in range(6):
        [start, end] = found.spans[0][word][1:]
        spelled = tokenizer.decode(ids[of_token == word]).lower().replace(" ", "")
        if tokenizer.unk_token not in tokenizer.convert_ids_to_tokens(ids[of_token == word]):
            assert text[start:end].lower() in spelled


def test_words_beyond_the_length_are_not_there(tiny_backbones):
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


def test_whole_documents_are_counted_whatever_their_length():
    vocabulary = Vocabulary()
    assert [row.tolist() for row in word_numbers(Documents(["a b a", ""], None, None, "t"), vocabulary)] == [
        [0, 1, 0],
        [],
    ]


def hider(tiny_backbones, masking):
    tokenizer = load_tokenizer(tiny_backbones["bert"])
    words = read_words(tokenizer, Documents(["rocket, moon!", "soup"], None, None, "t"), 32, Vocabulary())
    return tokenizer, Hider(words, tokenizer, masking)


def test_masked_words_keep_their_place(tiny_backbones):
    tokenizer, views = hider(tiny_backbones, "mask")
    ids, types = views.without(0, np.array([True, False]))
    assert tokenizer.convert_ids_to_tokens(ids) == ["[CLS]", "[MASK]", "[UNK]", "moon", "[UNK]", "[SEP]"]
    assert types.tolist() == [0] * 6
    ids, _ = views.bare(0, np.array([True, False]))
    assert tokenizer.convert_ids_to_tokens(ids) == ["[CLS]", "rocket", "[MASK]", "[MASK]", "[MASK]", "[SEP]"]


def test_dropped_words_leave_no_gap(tiny_backbones):
    tokenizer, views = hider(tiny_backbones, "drop")
    ids, types = views.without(0, np.array([True, False]))
    assert tokenizer.convert_ids_to_tokens(ids) == ["[CLS]", "[UNK]", "moon", "[UNK]", "[SEP]"]
    assert len(types) == 5
    ids, types = views.bare(0, np.array([False, False]))
    assert tokenizer.convert_ids_to_tokens(ids) == ["[CLS]", "[SEP]"] and len(types) == 2


def test_a_tokenizer_without_mask_token_can_only_drop(tiny_backbones):
    tokenizer = load_tokenizer(tiny_backbones["bert"])
    tokenizer.mask_token = None
    words = read_words(tokenizer, Documents(["rocket"], None, None, "t"), 32, Vocabulary())
    with pytest.raises(ConfigError, match="masking must be drop"):
        Hider(words, tokenizer, "mask")
    assert Hider(words, tokenizer, "drop").bare(0, np.array([True]))[0].shape == (3,)


def test_equal_rows_are_computed_once():
    rows = ViewRows()
    places = [rows.add(np.array(ids), None) for ids in ([1, 2], [1], [1, 2])]
    assert places == [0, 1, 0] and len(rows.encoded(has_types=False)) == 2


def test_shares_hold_on_average_and_never_shrink():
    """Of 3 keywords a quarter is 0.75: none for draws below 0.25, one otherwise."""
    assert shares_of(3, [0.25, 0.5, 1.0], 0.2) == [0, 1, 3]
    assert shares_of(3, [0.25, 0.5, 1.0], 0.9) == [1, 2, 3]
    draws = np.linspace(0, 1, 1000, endpoint=False)
    assert np.mean([shares_of(3, [0.25], draw)[0] for draw in draws]) == pytest.approx(0.75, abs=0.01)
    assert shares_of(0, [0.5, 1.0], 0.9) == [0, 0]
