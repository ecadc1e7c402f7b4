"""Documents as a model reads them, and versions of them."""

from __future__ import annotations

from dataclasses import replace

from masker.documents.word_spans import SPECIAL
from masker.evidence.reading import Variants, read_document

TEXT = "The rocket, near the moon"


def tokens(model, ids) -> list[str]:
    return model.tokenizer.convert_ids_to_tokens(ids.tolist())


def test_rows_are_those_that_the_model_reads(model, windowed):
    text = " ".join([TEXT] * 3)
    for reader in (model, windowed):
        encoded, reading = reader.encode([text]), read_document(reader, [text])
        assert [row.tolist() for row in reading.ids] == [row.tolist() for row in encoded.input_ids]
        assert [row.tolist() for row in reading.types] == [row.tolist() for row in encoded.token_type_ids]


def test_words_have_one_number_in_all_windows(windowed):
    text = f"{TEXT} today"
    reading = read_document(windowed, [text])
    assert len(reading.ids) > 1 and reading.words == ["the", "rocket", "near", "the", "moon", "today"]
    assert [text[start:end].lower() for _, start, end in reading.spans] == reading.words
    for ids, of_token in zip(reading.ids, reading.of_token, strict=True):
        spelled = [reading.words[number] for number in of_token if number >= 0]
        assert spelled == [token for token in tokens(windowed, ids) if token.isalpha()]


def test_a_word_that_ends_beyond_a_window_is_whole(windowed):
    """'stadiumstadium' is spelled with several tokens, some of them in the second window only."""
    text = "we saw a rocket near stadiumstadiumstadium"
    reading = read_document(windowed, [text])
    assert len(reading.ids) > 1 and reading.words[-1] == "stadiumstadiumstadium"
    part, start, end = reading.spans[-1]
    assert (part, text[start:end]) == (0, "stadiumstadiumstadium")


def test_variants_drop_or_mask(model):
    reading = read_document(model, [TEXT])
    variants = Variants(reading, nothing=1)
    rocket = reading.of_words([1])
    assert (variants.add(rocket), variants.add(rocket, model.tokenizer.mask_token_id)) == (1, 2)
    whole, dropped, masked = (tokens(model, row) for row in variants.encoded().input_ids)
    assert "rocket" in whole and dropped == [token for token in whole if token != "rocket"]
    assert masked == ["[MASK]" if token == "rocket" else token for token in whole]
    assert [len(row) for row in variants.encoded().token_type_ids] == [len(whole), len(whole) - 1, len(whole)]
    assert variants.encoded().document.tolist() == [0, 1, 2]


def test_a_row_of_which_nothing_is_left_still_has_a_token(model):
    reading = read_document(model, [TEXT])
    variants = Variants(reading, nothing=1)
    variants.add([row > SPECIAL - 1 for row in reading.of_token])
    encoded = variants.encoded()
    assert encoded.input_ids[1].tolist() == [1] and encoded.token_type_ids[1].tolist() == [0]


def test_a_pair_is_read_to_its_ends(model):
    pairs = replace(model, pairs=True)
    reading = read_document(pairs, [TEXT, "soup"])
    assert reading.words[-1] == "soup" and reading.spans[-1] == (1, 0, 4)
    assert reading.read_to(2) == [len(TEXT), 4]
    short = read_document(replace(pairs, max_length=8), [TEXT, "soup"])
    assert short.read_to(2)[0] < len(TEXT)


def test_touching_tokens_are_one_span(model):
    text = "moon moonmoon"
    reading = read_document(model, [text])
    assert reading.spans_of(reading.content(), [text]) == [(0, 0, 4), (0, 5, 13)]
    assert reading.spans_of(reading.content(), [text])[1:] == reading.spans[1:]
