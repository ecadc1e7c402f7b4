"""The model folder: round trip, atomic writing, and everything it refuses to open."""

import json
import os
import pickle
import zipfile

import numpy as np
import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from tokenizers import Tokenizer, models
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
)

from masker import files
from masker.errors import ConfigError, ModelError
from masker.modeling import model_folder
from masker.modeling.model_folder import (
    MANIFEST,
    TENSORS,
    ModelFolder,
    check_folder,
    check_output,
    load_manifest,
    save_folder,
)

MANIFEST_CONTENT = {"labels": ["ham", "späm"], "threshold": 0.1}
TENSORS_CONTENT = {"token_head.weight": np.random.default_rng(0).normal(size=(3, 8)), "scores": np.arange(4.0)}


@pytest.fixture(scope="module")
def model():
    config = BertConfig(
        vocab_size=7,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=16,
        num_labels=2,
    )
    vocabulary = {token: place for place, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"])}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]")),
        unk_token="[UNK]",
        pad_token="[PAD]",
        mask_token="[MASK]",
    )
    return BertForSequenceClassification(config).eval(), tokenizer


@pytest.fixture
def saved(tmp_path, model):
    return save_folder(tmp_path / "model", *model, ModelFolder(MANIFEST_CONTENT, TENSORS_CONTENT))


def refuses(folder, pattern):
    with pytest.raises(ModelError, match=pattern) as caught:
        load_manifest(folder)
    assert "\n" not in str(caught.value)


# --- writing ---------------------------------------------------------------------------------------------------------


def test_round_trip(saved, model):
    stored = load_manifest(saved)
    assert {name: stored.manifest[name] for name in MANIFEST_CONTENT} == MANIFEST_CONTENT
    assert stored.tensors.keys() == TENSORS_CONTENT.keys()
    for name, tensor in TENSORS_CONTENT.items():
        np.testing.assert_array_equal(stored.tensors[name], tensor)
        assert stored.tensors[name].dtype == tensor.dtype


def test_transformers_opens_the_folder_by_itself(saved, model):
    ids = torch.tensor([[2, 5, 6, 3]])
    opened = AutoModelForSequenceClassification.from_pretrained(saved).eval()
    torch.testing.assert_close(opened(ids).logits, model[0](ids).logits, rtol=0, atol=0)
    assert AutoTokenizer.from_pretrained(saved).get_vocab() == model[1].get_vocab()


def test_no_pickle_and_no_temporary_file_is_written(saved):
    assert os.listdir(saved.parent) == ["model"]
    assert not [file.name for file in saved.rglob("*") if file.suffix in {".bin", ".pt", ".pkl"}]
    assert check_folder(saved) == saved


def test_parents_are_made_and_an_empty_folder_is_taken(tmp_path, model):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "deep/er/model"):
        assert load_manifest(save_folder(tmp_path / name, *model, ModelFolder({}, {}))).tensors == {}


def test_tensor_that_is_a_view(tmp_path, model):
    turned = np.arange(6.0).reshape(2, 3).T
    folder = save_folder(tmp_path / "model", *model, ModelFolder({}, {"turned": turned}))
    np.testing.assert_array_equal(load_manifest(folder).tensors["turned"], turned)


def test_output_that_exists_is_refused(tmp_path, model, saved):
    (tmp_path / "file").write_text("mine")
    for name in ("model", "file"):
        with pytest.raises(ConfigError, match="already exists; choose another folder"):
            check_output(tmp_path / name)
        with pytest.raises(ConfigError, match="already exists"):
            save_folder(tmp_path / name, *model, ModelFolder({}, {}))
    assert (tmp_path / "file").read_text() == "mine"
    assert load_manifest(saved).manifest["labels"] == MANIFEST_CONTENT["labels"]


def test_output_that_is_free(tmp_path):
    (tmp_path / "empty").mkdir()
    assert check_output(tmp_path / "empty") == tmp_path / "empty"
    assert check_output(str(tmp_path / "new")) == tmp_path / "new"
    assert not (tmp_path / "new").exists()


def full_disk(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("stage", ["weights", "tokenizer", "tensors", "rename"])
def test_failure_half_way_leaves_nothing_behind(stage, tmp_path, model, monkeypatch):
    classifier, tokenizer = model
    if stage == "weights":
        monkeypatch.setattr(classifier, "save_pretrained", full_disk)
    elif stage == "tokenizer":
        monkeypatch.setattr(tokenizer, "save_pretrained", full_disk)
    elif stage == "tensors":
        monkeypatch.setattr("safetensors.numpy.save_file", full_disk)
    else:
        monkeypatch.setattr(files.os, "replace", full_disk)
    with pytest.raises(ConfigError, match="No space left on device") as caught:
        save_folder(tmp_path / "model", classifier, tokenizer, ModelFolder(MANIFEST_CONTENT, TENSORS_CONTENT))
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stage", ["tensors", "rename"])
def test_a_model_is_overwritten_by_a_whole_one_or_not_at_all(stage, tmp_path, saved, model, monkeypatch):
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    replace = os.replace

    def full_at_the_new_one(source, target):
        return replace(source, target) if os.fspath(source).endswith((".old", "/model")) else full_disk()

    with monkeypatch.context() as patch:
        if stage == "tensors":
            patch.setattr("safetensors.numpy.save_file", full_disk)
        else:
            patch.setattr(files.os, "replace", full_at_the_new_one)
        with pytest.raises(ConfigError, match="No space left on device"):
            save_folder(saved, *model, ModelFolder({"labels": ["new"]}, TENSORS_CONTENT), overwrite=True)
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    assert list(tmp_path.iterdir()) == [saved]

    save_folder(saved, *model, ModelFolder({"labels": ["new"]}, TENSORS_CONTENT), overwrite=True)
    assert load_manifest(saved).manifest["labels"] == ["new"]
    assert list(tmp_path.iterdir()) == [saved]


def test_full_disk_as_safetensors_reports_it(tmp_path, model, monkeypatch):
    """safetensors raises an error of its own, no OSError, when the disk is full."""

    def full(*_, **__):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("safetensors.numpy.save_file", full)
    with pytest.raises(ConfigError, match="No space left on device"):
        save_folder(tmp_path / "model", *model, ModelFolder(MANIFEST_CONTENT, TENSORS_CONTENT))
    assert list(tmp_path.iterdir()) == []


def test_interruption_leaves_nothing_behind(tmp_path, model, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(model[1], "save_pretrained", stop)
    with pytest.raises(KeyboardInterrupt):
        save_folder(tmp_path / "model", *model, ModelFolder({}, {}))
    assert list(tmp_path.iterdir()) == []


def test_parent_that_is_a_file(tmp_path, model):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ConfigError, match="cannot be written"):
        save_folder(tmp_path / "file" / "model", *model, ModelFolder({}, {}))


# --- reading ---------------------------------------------------------------------------------------------------------


def test_missing_folder(tmp_path):
    refuses(tmp_path / "none", "there is no model folder")


def test_foreign_folder(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    refuses(tmp_path, f"not a model folder: it lacks {MANIFEST}")


def test_transformers_folder_without_our_file(saved):
    (saved / MANIFEST).unlink()
    refuses(saved, f"a transformers model without {MANIFEST}")


@pytest.mark.parametrize("content", [b"", b'{"format": 1', b"\xff\xfe", b"[]", b"3", b"null", b'{"labels": []}'])
def test_corrupt_manifest(content, saved):
    (saved / MANIFEST).write_bytes(content)
    refuses(saved, "damaged")


@pytest.mark.parametrize("version", ["two", None, [1]])
def test_manifest_with_a_version_that_is_no_number(version, saved):
    (saved / MANIFEST).write_text(json.dumps({"format": version}))
    refuses(saved, "damaged|newer")


@pytest.mark.parametrize("kept", [0, 5, 60, -1])
def test_truncated_tensors(kept, saved):
    content = (saved / TENSORS).read_bytes()
    (saved / TENSORS).write_bytes(content[:kept])
    refuses(saved, "damaged")


def test_missing_tensors(saved):
    (saved / TENSORS).unlink()
    refuses(saved, "damaged")


def test_newer_format(saved):
    manifest = json.loads((saved / MANIFEST).read_text())
    (saved / MANIFEST).write_text(json.dumps({**manifest, "format": model_folder.FORMAT + 1}))
    refuses(saved, "newer masker .*upgrade")


# --- pickles ---------------------------------------------------------------------------------------------------------


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "a.pt", "a.pth", "deep/a.pkl", "a.ckpt", "a.joblib"])
def test_pickle_by_suffix(name, saved):
    (saved / name).parent.mkdir(exist_ok=True)
    (saved / name).write_bytes(b"anything")
    refuses(saved, f"pickle .*{name.split('/')[-1]}")


def test_pickle_by_suffix_in_capitals(saved):
    (saved / "MODEL.PT").write_bytes(b"anything")
    refuses(saved, "pickle")


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", ["readme.txt", "vocab", "deep/notes.md"])
def test_pickle_by_content(name, protocol, saved, tmp_path):
    (saved / name).parent.mkdir(exist_ok=True)
    (saved / name).write_bytes(pickle.dumps(Bomb(tmp_path / "exploded"), protocol=protocol))
    refuses(saved, "pickle")
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("zipped", [True, False])
def test_torch_save_under_an_innocent_name(zipped, saved):
    torch.save({"a": torch.zeros(2)}, saved / "data.txt", _use_new_zipfile_serialization=zipped)
    refuses(saved, "pickle")


def test_pickle_in_place_of_a_file_of_ours(saved, tmp_path):
    (saved / TENSORS).write_bytes(pickle.dumps(Bomb(tmp_path / "exploded")))
    refuses(saved, "pickle|damaged")
    (saved / MANIFEST).write_bytes(pickle.dumps(Bomb(tmp_path / "exploded")))
    refuses(saved, "pickle|damaged")
    assert not (tmp_path / "exploded").exists()


def test_harmless_files_may_lie_beside(saved):
    with zipfile.ZipFile(saved / "docs.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    (saved / "README.md").write_text("a model")
    (saved / "cut.zip").write_bytes(b"PK\x03\x04")
    (saved / "empty").write_bytes(b"")
    assert load_manifest(saved).manifest["threshold"] == 0.1


def test_safetensors_whose_header_length_looks_like_a_pickle(saved):
    """A safetensors file starts with the length of its header, little-endian.

    128 is the bytes 80 00, 384 is 80 01: a pickle starts with 80 and its protocol number.
    """
    for wanted in (128, 384, 640):
        name = "t"
        while True:
            save_file({name: torch.zeros(1)}, saved / TENSORS)
            length = int.from_bytes((saved / TENSORS).read_bytes()[:8], "little")
            if length >= wanted:
                break
            name += "t" * 4
        assert length == wanted
        assert list(load_manifest(saved).tensors) == [name]
