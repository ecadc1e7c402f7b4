"""Documents with words hidden, and the answers of a model."""

from __future__ import annotations

import numpy as np
import pytest

from masker.audit.hiding import DistinctRows, Hider
from masker.audit.words import Vocabulary, read_words
from masker.documents import Documents
from masker.errors import ConfigError
from masker.modeling.backbone import load_tokenizer
from tests.audit.conftest import CLASSES


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
    rows = DistinctRows()
    places = [rows.add((np.array(ids), None)) for ids in ([1, 2], [1], [1, 2])]
    assert places == [0, 1, 0] and len(rows.encoded()) == 2 and rows.encoded().token_type_ids is None


def test_equal_tokens_of_other_types_are_another_row():
    rows = DistinctRows()
    places = [rows.add((np.array([1, 2]), np.array(types))) for types in ([0, 0], [0, 1], [0, 0])]
    assert places == [0, 1, 0]
    assert [types.tolist() for types in rows.encoded().token_type_ids] == [[0, 0], [0, 1]]


def test_answers_are_those_of_the_whole_documents(answered_topics):
    """Three rockets at weight 1 against two classes at 0: p = e³ / (e³ + 2)."""
    documents = Documents(["rocket the rocket of rocket", "the", "rocket the rocket of rocket"], None, CLASSES, "d")
    _, answered, _ = answered_topics({"rocket": {"space": 1.0}}, documents)
    sure = np.exp(3) / (np.exp(3) + 2)
    assert answered.confidences == pytest.approx([sure, 1 / 3, sure])
    assert answered.predicted.tolist() == [1, 0, 1], "of equal classes the first wins"
    assert answered.gold.tolist() == [0, 1, 2] and answered.n_classes == 3 and len(answered) == 3
