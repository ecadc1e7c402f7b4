"""The user's words in three kinds of tokenizer, and keyword files on disk."""

import json

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from masker.errors import ConfigError
from masker.keywords import Keyword, KeywordSet
from masker.keywords.keyword_files import keywords_from_words, read_keywords


def marked(keywords, tokenizer, text):
    """The tokens of ``text`` that belong to a keyword."""
    ids = np.array(tokenizer.encode(text, add_special_tokens=False))
    return [tokenizer.convert_ids_to_tokens(int(i)) for i in ids[keywords.find(ids)]]


def test_words_of_a_wordpiece_tokenizer(wordpiece):
    keywords = keywords_from_words(["Apple", " tree ", "", "apple"], wordpiece)
    assert keywords.source == "user"
    assert [keyword.token_ids for keyword in keywords] == [
        (wordpiece.convert_tokens_to_ids("apple"),),
        (wordpiece.convert_tokens_to_ids("tree"),),
    ]
    assert marked(keywords, wordpiece, "An APPLE under the tree") == ["apple", "tree"]


def test_word_split_into_pieces_is_a_phrase(wordpiece):
    """'watches' is not a single token: it matches where all its pieces stand together; 'watch' alone does not."""
    pieces = wordpiece.tokenize("watches")
    assert len(pieces) > 1
    keywords = keywords_from_words(["watches"], wordpiece)
    assert [len(keyword.token_ids) for keyword in keywords] == [len(pieces)]
    assert marked(keywords, wordpiece, "watches tree watch") == pieces


def test_several_words_make_one_phrase(wordpiece):
    keywords = keywords_from_words(["apple tree"], wordpiece)
    assert marked(keywords, wordpiece, "tree apple tree apple") == ["apple", "tree"]


def test_byte_level_words_are_found_with_and_without_space_in_each_case(bpe):
    keywords = keywords_from_words(["apple"], bpe)
    for text in ["apple day", "an apple day", "Apple day", "the Apple day"]:
        assert "".join(marked(keywords, bpe, text)).replace("Ġ", "").lower() == "apple", text
    assert marked(keywords, bpe, "a day") == []


def test_unigram_words_are_found_at_the_start_and_inside(unigram):
    keywords = keywords_from_words(["apple"], unigram)
    for text in ["apple day", "an apple day"]:
        assert "".join(marked(keywords, unigram, text)) == "▁apple", text
    assert marked(keywords, unigram, "a day") == []


def test_every_form_appears_once(bpe):
    keywords = keywords_from_words(["apple", "Apple", "apple"], bpe)
    forms = [keyword.token_ids for keyword in keywords]
    assert len(forms) == len(set(forms))


def test_unknown_word_is_named(wordpiece, unigram):
    for tokenizer in (wordpiece, unigram):
        with pytest.raises(ConfigError, match="'猫'"):
            keywords_from_words(["apple", "猫"], tokenizer)


@pytest.mark.parametrize("words", [[], ["", "  "]])
def test_empty_list_is_refused(words, wordpiece):
    with pytest.raises(ConfigError, match="empty"):
        keywords_from_words(words, wordpiece)


# --- files -----------------------------------------------------------------------------------------------------------


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


def test_byte_order_mark_is_not_part_of_the_first_word(tmp_path):
    """Editors on Windows write one; a byte-level tokenizer would read it as letters."""
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0, "b": 1, "ï": 2, "»": 3, "¿": 4, "Ġ": 5, "A": 6, "B": 7}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    path = tmp_path / "words.txt"
    path.write_bytes(b"\xef\xbb\xbfa\nb\n")
    keywords = read_keywords(path, PreTrainedTokenizerFast(tokenizer_object=tokenizer))
    assert (0,) in [keyword.token_ids for keyword in keywords]


def test_saved_set_keeps_source_and_scores(tmp_path, tokenizer):
    saved = KeywordSet("attention", (Keyword("tree", (6,), 0.75), Keyword("##es", (8,), 0.5)), len(tokenizer))
    assert read_keywords(write(tmp_path / "set.json", saved.dumps()), tokenizer) == saved


def test_saved_set_of_another_tokenizer_is_tokenized_again(tmp_path, tokenizer):
    other = small_tokenizer("watch", "tree", "apple", "es", "12")
    saved = KeywordSet("attention", (Keyword("tree", (6,), 0.75), Keyword("apple", (5,), 0.5)), len(tokenizer))
    keywords = read_keywords(write(tmp_path / "set.json", saved.dumps()), other)
    assert len(other) == len(tokenizer)  # the sizes agree, the words do not
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


def test_other_json_is_refused(tmp_path, tokenizer):
    with pytest.raises(ConfigError, match="not a saved keyword set"):
        read_keywords(write(tmp_path / "set.json", json.dumps({"words": ["apple"]})), tokenizer)
