"""From texts to token ids."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from masker.documents import encoding
from masker.documents.encoding import Encoded, encode, token_budget_batches

PAD, UNK, CLS, SEP, MASK = range(5)


@pytest.fixture(scope="module")
def tokenizer():
    """Word n0 ... n199 is token 5 ... 204; a pair has token types 0 and 1."""
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {token: place for place, token in enumerate([*names, *(f"n{n}" for n in range(200))])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.post_processor = processors.BertProcessing(("[SEP]", SEP), ("[CLS]", CLS))
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def words(start, stop):
    return " ".join(f"n{n}" for n in range(start, stop))


def ids(start, stop):
    return list(range(start + 5, stop + 5))


def lists(arrays):
    return [array.tolist() for array in arrays]


def test_short_documents_are_framed_and_not_padded(tokenizer):
    encoded = encode(tokenizer, [words(0, 2), words(7, 8)], None, 16)
    assert lists(encoded.input_ids) == [[CLS, 5, 6, SEP], [CLS, 12, SEP]]
    assert encoded.lengths.tolist() == [4, 3]
    assert encoded.document.tolist() == [0, 1]
    assert len(encoded) == 2
    assert all(row.dtype == np.int64 for row in encoded.input_ids)


def test_truncation_keeps_the_head_and_the_final_separator(tokenizer):
    encoded = encode(tokenizer, [words(0, 100)], None, 8)
    assert lists(encoded.input_ids) == [[CLS, *ids(0, 6), SEP]]


def test_document_of_exactly_the_room_is_not_cut(tokenizer):
    for windows in (False, True):
        encoded = encode(tokenizer, [words(0, 6)], None, 8, window_overlap=0.25 if windows else None)
        assert lists(encoded.input_ids) == [[CLS, *ids(0, 6), SEP]]


def test_pairs_have_token_types(tokenizer):
    encoded = encode(tokenizer, [words(0, 2)], [words(9, 10)], 16)
    assert lists(encoded.input_ids) == [[CLS, 5, 6, SEP, 14, SEP]]
    assert lists(encoded.token_type_ids) == [[0, 0, 0, 0, 1, 1]]


def test_long_pair_is_cut_to_the_length_and_keeps_both_texts(tokenizer):
    encoded = encode(tokenizer, [words(0, 50)], [words(100, 150)], 13)
    (row,) = lists(encoded.input_ids)
    assert len(row) == 13
    assert row == [CLS, *ids(0, 5), SEP, *ids(100, 105), SEP]


def test_empty_text_still_has_a_row(tokenizer):
    assert lists(encode(tokenizer, ["", words(0, 1)], None, 8).input_ids) == [[CLS, SEP], [CLS, 5, SEP]]


def test_word_outside_the_vocabulary_is_unknown(tokenizer):
    assert lists(encode(tokenizer, ["n1 unheard"], None, 8).input_ids) == [[CLS, 6, UNK, SEP]]


def test_labels_follow_the_documents(tokenizer):
    encoded = encode(tokenizer, [words(0, 1), words(1, 2)], None, 8, labels=np.array([4, 2]))
    assert encoded.labels.tolist() == [4, 2]
    assert encode(tokenizer, [words(0, 1)], None, 8).labels is None


def test_windows_by_hand(tokenizer):
    """max_length 10 leaves room for 8 tokens; overlap 0.25 repeats 2, so a window starts every 6 tokens.

    14 tokens: 0-8 and 6-14.
    """
    encoded = encode(tokenizer, [words(0, 14), words(3, 5)], None, 10, labels=np.array([1.5, 0.5]), window_overlap=0.25)
    assert lists(encoded.input_ids) == [[CLS, *ids(0, 8), SEP], [CLS, *ids(6, 14), SEP], [CLS, *ids(3, 5), SEP]]
    assert encoded.document.tolist() == [0, 0, 1]
    assert encoded.labels.tolist() == [1.5, 1.5, 0.5]


@pytest.mark.parametrize("overlap", [0.0, 0.25, 0.5, 0.99])
@pytest.mark.parametrize("size", [1, 6, 7, 50, 199])
def test_windows_cover_every_token_in_order(tokenizer, overlap, size):
    encoded = encode(tokenizer, [words(0, size)], None, 8, window_overlap=overlap)
    content = [row[1:-1].tolist() for row in encoded.input_ids]
    assert sorted({token for row in content for token in row}) == ids(0, size)
    assert all(row == list(range(row[0], row[0] + len(row))) for row in content)
    assert all(len(row) <= 8 for row in encoded.input_ids)
    assert [row[0] for row in content] == sorted({row[0] for row in content})


@pytest.mark.parametrize(("first", "second"), [(40, 3), (3, 40), (40, 40), (2, 2)])
def test_windows_of_pairs_cover_both_texts(tokenizer, first, second):
    encoded = encode(tokenizer, [words(0, first)], [words(100, 100 + second)], 13, window_overlap=0.5)
    seen = {int(token) for row in encoded.input_ids for token in row} - {CLS, SEP}
    assert seen == set(ids(0, first)) | set(ids(100, 100 + second))
    assert all(len(row) <= 13 for row in encoded.input_ids)
    assert set(encoded.document.tolist()) == {0}


def test_rows_as_the_collator_wants_them(tokenizer):
    encoded = encode(tokenizer, [words(0, 1), words(1, 2)], None, 8, labels=np.array([4, 2]))
    row = encoded[1]
    assert row["input_ids"].tolist() == [CLS, 6, SEP]
    assert (row["label"], row["row"]) == (2, 1)
    plain = Encoded([np.array([1])], None, None, np.array([0]))[0]
    assert plain["token_type_ids"] is None
    assert plain["label"] is None


def test_take_keeps_the_order_asked_for(tokenizer):
    encoded = encode(tokenizer, [words(n, n + 1) for n in range(4)], None, 8, labels=np.arange(4))
    taken = encoded.take([3, 1])
    assert lists(taken.input_ids) == [[CLS, 8, SEP], [CLS, 6, SEP]]
    assert taken.labels.tolist() == [3, 1]
    assert taken.document.tolist() == [0, 1]
    assert len(taken.token_type_ids) == 2
    assert len(encoded.take([])) == 0


# --- batches ---------------------------------------------------------------------------------------------------------


def test_budget_by_hand():
    """Longest first: 9; then 5 fits twice into 10 (5, 4); then 3 three times (3, 2, 1)."""
    batches = token_budget_batches(np.array([1, 9, 5, 3, 4, 2]), 10)
    assert lists(batches) == [[1], [2, 4], [3, 5, 0]]


@given(lengths=st.lists(st.integers(0, 40), max_size=60), budget=st.integers(1, 100))
def test_every_row_once_within_the_budget(lengths, budget):
    lengths = np.array(lengths, dtype=np.int64)
    batches = token_budget_batches(lengths, budget)
    assert sorted(int(row) for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= budget


def test_longest_rows_come_first():
    lengths = np.random.default_rng(0).integers(1, 50, size=200)
    order = np.concatenate(token_budget_batches(lengths, 128))
    assert (np.diff(lengths[order]) <= 0).all()


def test_no_rows_no_batches():
    assert token_budget_batches(np.array([], dtype=np.int64), 10) == []


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize("side", ["right", "left"])
def test_the_short_way_to_the_tokenizer_gives_what_calling_it_gives(tokenizer, paired, windows, side):
    texts = [words(0, 3), words(5, 40), "", words(90, 96), "n1 [SEP] nothing"]
    pairs = [words(50, 70), "n7", words(10, 13), "", "[MASK]"] if paired else None
    tokenizer.truncation_side = side
    try:
        encoded = encode(tokenizer, texts, pairs, 12, window_overlap=0.25 if windows else None)
        stride = int(0.25 * ((12 - 3) // 2 if paired else 12 - 2)) if windows else 0
        expected = tokenizer(
            texts, pairs, truncation=True, max_length=12, return_overflowing_tokens=windows, stride=stride
        )
    finally:
        tokenizer.truncation_side = "right"
    assert lists(encoded.input_ids) == expected["input_ids"]
    assert lists(encoded.token_type_ids) == expected["token_type_ids"]
    assert encoded.document.tolist() == (expected["overflow_to_sample_mapping"] if windows else [0, 1, 2, 3, 4])


@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize("paired", [False, True])
def test_texts_in_parts_are_texts_at_once(tokenizer, monkeypatch, paired, windows):
    from masker.documents import encoding

    texts = [" ".join(["alpha", "beta", "gamma"][n % 3] for _ in range(n + 1)) for n in range(11)]
    pairs = texts[::-1] if paired else None
    labels = np.arange(11)
    whole = encode(tokenizer, texts, pairs, 9, labels=labels, window_overlap=0.25 if windows else None)
    monkeypatch.setattr(encoding, "_TEXTS_AT_A_TIME", 4)
    parts = encode(tokenizer, texts, pairs, 9, labels=labels, window_overlap=0.25 if windows else None)
    assert len(parts) == len(whole) and (len(whole) > 11) == windows
    for name in ("document", "labels"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    for name in ("input_ids", "token_type_ids"):
        assert [row.tolist() for row in getattr(parts, name)] == [row.tolist() for row in getattr(whole, name)]


def test_documents_are_taken_with_all_their_windows():
    """Documents of 1, 3, 1 and 2 windows; the token of each window is its number."""
    document = np.array([0, 1, 1, 1, 2, 3, 3])
    rows = Encoded([np.array([n]) for n in range(7)], [np.array([n]) for n in range(7)], document * 10, document)
    taken = rows.take_documents(np.array([False, True, False, True]))
    assert lists(taken.input_ids) == lists(taken.token_type_ids) == [[1], [2], [3], [5], [6]]
    assert taken.document.tolist() == [0, 0, 0, 1, 1] and taken.labels.tolist() == [10, 10, 10, 30, 30]
    none = rows.take_documents(np.zeros(4, dtype=bool))
    assert len(none) == len(none.document) == len(none.labels) == 0


def test_a_sample_keeps_all_windows_of_a_document():
    """Documents of one, two and three windows; token and label of each window are the number of its document."""
    document = np.repeat(np.arange(30), np.arange(30) % 3 + 1)
    rows = Encoded([np.array([number]) for number in document], None, document.copy(), document)
    sample = rows.sample_documents(12, 0)
    assert sample.document.tolist() == sorted(sample.document) and set(sample.document) == set(range(12))
    original = np.array([ids[0] for ids in sample.input_ids])
    assert (sample.labels == original).all()
    for number in range(12):
        (whole,) = set(original[sample.document == number])
        assert (sample.document == number).sum() == (document == whole).sum()
    assert rows.sample_documents(30, 0) is rows


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize(
    "text",
    [
        words(0, 200),
        "n7 " * 100,
        "n7" * 100,  # no blank to cut at
        f"n1{' ' * 300}n2 n3 n4 n5 n6 n7",  # the part that is read has too few words
        f"n1 n2 n3 n4 n5 n6{' ' * 300}n7",
        " " * 300,
    ],
)
def test_of_a_long_text_the_end_that_stays_is_read(tokenizer, monkeypatch, side, text):
    """The ids are those of the whole text, whatever is read of it."""
    monkeypatch.setattr(tokenizer, "truncation_side", side)
    [whole] = encode(tokenizer, [text], None, 7).input_ids
    monkeypatch.setattr(encoding, "_READ", 40)
    [part] = encode(tokenizer, [text], None, 7).input_ids
    assert part.tolist() == whole.tolist()


def test_a_text_of_sixty_million_characters_is_not_tokenized_whole(tokenizer):
    """Tokenizing it takes half a minute and gigabytes."""
    seen = []

    class Backend:
        def __getattr__(self, name):
            return getattr(tokenizer.backend_tokenizer, name)

        def encode_batch_fast(self, texts):
            seen.extend(map(len, texts))
            return tokenizer.backend_tokenizer.encode_batch_fast(texts)

    class Watched:
        backend_tokenizer = Backend()

        def __getattr__(self, name):
            return getattr(tokenizer, name)

    [row] = encode(Watched(), ["n7 " * 20_000_000], None, 16).input_ids
    assert row.tolist() == [CLS, *[12] * 14, SEP] and max(seen) <= 1 << 18
