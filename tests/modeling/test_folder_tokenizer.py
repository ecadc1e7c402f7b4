"""The tokenizer read without transformers gives what transformers gives: ids, token types, windows, special tokens."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from masker.documents.encoding import encode
from masker.errors import ModelError
from masker.modeling.backbone import load_tokenizer
from masker.modeling.folder_tokenizer import FolderTokenizer
from masker.modeling.tokens import special_ids_of
from tests.conftest import FAMILIES, make_corpus

TEXTS, _ = make_corpus(8, seed=5)
TEXTS = [" ".join([text] * (1 + index % 3)) for index, text in enumerate(TEXTS)]
TEXTS += ["", " ", "Moon\tMOON\n\u00a0moon", "zzz Ünïcôdé 月 🚀 \u200d", "don't ``stop''"]
TEXTS += ["a [MASK] b <mask> </s> [SEP] <unk> c"]


def own_class(family: str, generic: str, folder) -> str:
    """The vocabulary of a tiny tokenizer in the family's own class, which builds the rest by itself."""
    from transformers import AlbertTokenizer, BertTokenizer, MPNetTokenizer, RobertaTokenizer

    model = json.loads(load_tokenizer(generic).backend_tokenizer.to_str())["model"]
    if family == "bert":
        tokenizer = BertTokenizer(vocab=model["vocab"])
    elif family == "mpnet":
        tokenizer = MPNetTokenizer(vocab=model["vocab"])
    elif family == "roberta":
        merges = [tuple(pair) for pair in model["merges"]]
        tokenizer = RobertaTokenizer(vocab=model["vocab"], merges=merges)
    else:
        tokenizer = AlbertTokenizer(vocab=[tuple(entry) for entry in model["vocab"]])
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def folders(tiny_backbones, tmp_path_factory):
    """Each family's tokenizer in a general class and in its own."""
    own = {
        f"{family}, own class": own_class(family, tiny_backbones[family], tmp_path_factory.mktemp(family))
        for family in FAMILIES
    }
    return {**tiny_backbones, **own}


def both(folder):
    return load_tokenizer(folder), FolderTokenizer(folder)


def assert_same(folder, texts, pairs, max_length, window_overlap=None):
    theirs, ours = (
        encode(tokenizer, texts, pairs, max_length, window_overlap=window_overlap) for tokenizer in both(folder)
    )
    assert [ids.tolist() for ids in ours.input_ids] == [ids.tolist() for ids in theirs.input_ids]
    assert ours.document.tolist() == theirs.document.tolist()
    if theirs.token_type_ids is not None:
        assert [ids.tolist() for ids in ours.token_type_ids] == [ids.tolist() for ids in theirs.token_type_ids]


CASES = [*FAMILIES, *(f"{family}, own class" for family in FAMILIES)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("pairs", [False, True], ids=["texts", "pairs"])
@pytest.mark.parametrize("overlap", [None, 0.25], ids=["truncated", "windows"])
@pytest.mark.parametrize("max_length", [8, 64])
def test_the_same_rows(folders, case, pairs, overlap, max_length):
    assert_same(folders[case], TEXTS, list(reversed(TEXTS)) if pairs else None, max_length, overlap)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(max_size=40), min_size=1, max_size=3), case=st.sampled_from(CASES))
def test_the_same_rows_of_any_text(folders, texts, case):
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    assert_same(folders[case], texts, None, 12)


@pytest.mark.parametrize("case", CASES)
def test_the_same_special_tokens(folders, case):
    theirs, ours = both(folders[case])
    for name in ("pad_token_id", "unk_token_id", "mask_token_id", "truncation_side", "split_special_tokens"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert set(ours.all_special_ids) == set(theirs.all_special_ids)
    assert special_ids_of(ours) == special_ids_of(theirs)
    for pair in (False, True):
        assert ours.num_special_tokens_to_add(pair) == theirs.num_special_tokens_to_add(pair)


def test_the_encoder_that_comes_with_the_package():
    from masker.modeling.embedded import embedded_folder

    folder = embedded_folder("minilm")
    assert_same(folder, TEXTS, None, 16)
    assert_same(folder, TEXTS, list(reversed(TEXTS)), 16, 0.25)
    theirs, ours = both(folder)
    assert special_ids_of(ours) == special_ids_of(theirs)


def test_extra_tokens_other_sides_and_special_tokens_as_text(tiny_backbones, tmp_path):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(
        tiny_backbones["bert"],
        extra_special_tokens=["<name>", "<place>"],
        truncation_side="left",
        split_special_tokens=True,
    )
    tokenizer.save_pretrained(tmp_path)
    theirs, ours = both(str(tmp_path))
    assert ours.truncation_side == "left" and ours.split_special_tokens
    assert special_ids_of(ours) == special_ids_of(theirs)
    assert len(ours.all_special_ids) == 7
    assert_same(str(tmp_path), [*TEXTS, "<name> saw the [MASK] near <place>"], None, 8)


def test_token_types_are_made_where_the_file_does_not_say(folders):
    assert "token_type_ids" in FolderTokenizer(folders["bert, own class"]).model_input_names
    assert "token_type_ids" not in FolderTokenizer(folders["roberta"]).model_input_names


@pytest.mark.parametrize("damage", ["no file", "no config", "not JSON", "no padding"])
def test_a_damaged_folder(tiny_backbones, tmp_path, damage):
    tokenizer = load_tokenizer(tiny_backbones["bert"])
    tokenizer.save_pretrained(tmp_path)
    if damage == "no file":
        (tmp_path / "tokenizer.json").unlink()
    elif damage == "no config":
        (tmp_path / "tokenizer_config.json").unlink()
    elif damage == "not JSON":
        (tmp_path / "tokenizer.json").write_text("{")
    else:
        config = json.loads((tmp_path / "tokenizer_config.json").read_text())
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({**config, "pad_token": None}))
    with pytest.raises(
        ModelError, match=r"^the tokenizer in folder .* cannot be opened \(.*\); is it a complete"
    ) as caught:
        FolderTokenizer(tmp_path)
    assert "\n" not in str(caught.value)
