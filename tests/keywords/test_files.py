"""Keyword lists on disk."""

import json

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from masker.errors import ConfigError
from masker.keywords import Keyword, KeywordSet
from masker.keywords.files import read_keywords


def small_tokenizer(*words):
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {token: place for place, token in enumerate([*names, *words])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


@pytest.fixture(scope="module")
def tokenizer():
    return small_tokenizer("apple", "tree", "watch", "##es", "12")


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_one_word_a_line(tmp_path, tokenizer):
    keywords = read_keywords(write(tmp_path / "words.txt", "apple\n\n  Tree \r\nwatches\n"), tokenizer)
    assert keywords.source == "user"
    assert keywords.words == ["apple", "Tree", "watches"]
    assert [keyword.token_ids for keyword in keywords] == [(5,), (6,), (7, 8)]


def test_path_as_text(tmp_path, tokenizer):
    assert read_keywords(str(write(tmp_path / "words.txt", "apple")), tokenizer).words == ["apple"]


def test_json_list(tmp_path, tokenizer):
    assert read_keywords(write(tmp_path / "words.json", '["tree", "apple tree"]'), tokenizer).words == [
        "tree",
        "apple tree",
    ]


def test_single_line_that_happens_to_be_json(tmp_path, tokenizer):
    assert read_keywords(write(tmp_path / "words.txt", "12"), tokenizer).words == ["12"]


def test_byte_order_mark_is_no_part_of_the_first_word(tmp_path):
    """Editors on Windows write one; a byte-level tokenizer would take it for letters."""
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0, "b": 1, "ï": 2, "»": 3, "¿": 4, "Ġ": 5, "A": 6, "B": 7}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    path = tmp_path / "words.txt"
    path.write_bytes(b"\xef\xbb\xbfa\nb\n")
    keywords = read_keywords(path, PreTrainedTokenizerFast(tokenizer_object=tokenizer))
    assert (0,) in [keyword.token_ids for keyword in keywords]


def test_saved_set_keeps_source_and_scores(tmp_path, tokenizer):
    saved = KeywordSet("attention", (Keyword("tree", (6,), 0.75), Keyword("##es", (8,), 0.5)), len(tokenizer))
    assert read_keywords(write(tmp_path / "set.json", saved.dumps()), tokenizer) == saved


def test_saved_set_of_another_tokenizer_is_looked_up_anew(tmp_path, tokenizer):
    other = small_tokenizer("watch", "tree", "apple", "es", "12")
    saved = KeywordSet("attention", (Keyword("tree", (6,), 0.75), Keyword("apple", (5,), 0.5)), len(tokenizer))
    keywords = read_keywords(write(tmp_path / "set.json", saved.dumps()), other)
    assert len(other) == len(tokenizer)  # the size does not tell them apart, the words do
    assert keywords.source == "user"
    assert [keyword.token_ids for keyword in keywords] == [(6,), (7,)]


def test_saved_set_of_a_smaller_tokenizer_does_not_keep_its_size(tmp_path, tokenizer):
    saved = KeywordSet("attention", (Keyword("apple", (5,), 0.75), Keyword("##es", (8,), 0.5)), len(tokenizer))
    other = small_tokenizer("apple", "tree", "watch", "##es", "12", "es")
    keywords = read_keywords(write(tmp_path / "set.json", saved.dumps()), other)
    assert keywords.vocabulary_size == len(other)
    assert [keyword.token_ids for keyword in keywords] == [(5,), (10,)]
    np.testing.assert_array_equal(keywords.target_ids, [5, 10])


def test_saved_set_with_words_the_other_tokenizer_lacks(tmp_path, tokenizer):
    saved = KeywordSet("attention", (Keyword("apple", (5,), 0.75),), len(tokenizer))
    with pytest.raises(ConfigError, match="'apple'"):
        read_keywords(write(tmp_path / "set.json", saved.dumps()), small_tokenizer("tree"))


def test_saved_phrase_round_trip(tmp_path, tokenizer):
    saved = read_keywords(write(tmp_path / "words.txt", "watches\napple tree"), tokenizer)
    again = read_keywords(write(tmp_path / "set.json", saved.dumps()), tokenizer)
    assert [keyword.token_ids for keyword in again] == [(7, 8), (5, 6)]


def test_missing_file_names_it_and_the_schemes(tmp_path, tokenizer):
    with pytest.raises(ConfigError, match=r"attention, frequency, random.*'atention'"):
        read_keywords("atention", tokenizer)


def test_folder_and_binary_file(tmp_path, tokenizer):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_keywords(tmp_path, tokenizer)
    (tmp_path / "words.bin").write_bytes(b"\xff\xfe\x00a")
    with pytest.raises(ConfigError, match="UTF-8"):
        read_keywords(tmp_path / "words.bin", tokenizer)


@pytest.mark.parametrize("text", ["", "\n \n", "[]"])
def test_empty_list(text, tmp_path, tokenizer):
    with pytest.raises(ConfigError, match="empty"):
        read_keywords(write(tmp_path / "words.txt", text), tokenizer)


def test_empty_saved_set(tmp_path, tokenizer):
    saved = KeywordSet("attention", (), len(tokenizer))
    with pytest.raises(ConfigError, match="empty"):
        read_keywords(write(tmp_path / "set.json", saved.dumps()), tokenizer)


def test_json_of_another_kind(tmp_path, tokenizer):
    with pytest.raises(ConfigError, match="not a saved keyword set"):
        read_keywords(write(tmp_path / "set.json", json.dumps({"words": ["apple"]})), tokenizer)
