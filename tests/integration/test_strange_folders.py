"""Model folders that are damaged or made by somebody who means harm: refused in one line, or harmless."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from masker import Model, ModelError
from masker.keywords.keyword_set import MOST_KEYWORDS
from masker.modeling.manifest import MOST_JSON, MOST_TENSORS

FIXTURE = Path(__file__).parent.parent / "fixtures" / "masker-bert"


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(FIXTURE, tmp_path / "model"))


def change_json(folder, name, **values):
    content = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps({**content, **values}))


def change_tensors(folder, change, name="model.safetensors"):
    tensors = dict(load_file(folder / name))
    change(tensors)
    save_file(tensors, folder / name)


def refusal(folder):
    with pytest.raises(ModelError) as caught:
        Model.open(folder, device="cpu").predict(["rocket"])
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"classes": ["food", "space", "sport", "more"]}, "4 classes for 3 outputs"),
        ({"classes": ["food", "space"]}, "damaged"),
        ({"classes": ["food", "space", "food"]}, "classes has a name twice"),
        ({"classes": "abc"}, "classes is not a list of names"),
        ({"label_type": "eval"}, "label_type is 'eval'"),
        ({"label_type": "int"}, "invalid literal"),
        ({"max_length": -3}, "max_length is -3"),
        ({"max_length": "long"}, "max_length is 'long'"),
        ({"max_length": 10**12}, "max_length is 1000000000000"),
        ({"pairs": 1}, "pairs is 1"),
        ({"tensors": "../other/masker.safetensors"}, "is not a file of the folder"),
    ],
)
def test_values_that_make_no_sense(folder, values, named):
    change_json(folder, "masker.json", **values)
    assert named in refusal(folder)


@pytest.mark.parametrize("layers", [10**7, -1, "many"])
def test_an_encoder_that_would_take_all_memory(folder, layers):
    change_json(folder, "config.json", num_hidden_layers=layers)
    assert f"num_hidden_layers is {layers!r}" in refusal(folder)


def test_json_too_deep_to_read(folder):
    (folder / "masker.json").write_text("[" * 100_000 + "]" * 100_000)
    assert "is damaged (RecursionError" in refusal(folder)


def test_a_missing_tensor_is_not_made_up(folder):
    """transformers would fill it with random numbers and open the model."""
    change_tensors(folder, lambda tensors: tensors.pop("bert.encoder.layer.0.output.dense.weight"))
    assert "lack 1 tensors (bert.encoder.layer.0.output.dense.weight" in refusal(folder)


def test_tensors_of_another_shape_or_without_numbers(folder):
    name = "bert.embeddings.word_embeddings.weight"
    change_tensors(folder, lambda tensors: tensors.update({name: tensors[name] * np.nan}))
    assert "the network gives NaN" in refusal(folder)
    change_tensors(folder, lambda tensors: tensors.update({name: tensors[name][:5]}))
    assert "cannot be opened" in refusal(folder)


@pytest.mark.parametrize("change", [lambda array: array[:1], lambda array: array * np.nan])
def test_statistics_of_another_shape_or_without_numbers(folder, change):
    def spoil(tensors):
        tensors.update({name: change(array) for name, array in tensors.items() if array.dtype.kind == "f"})

    change_tensors(folder, spoil, "masker.safetensors")
    assert "damaged" in refusal(folder) or "NaN" in refusal(folder)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("config.json", {"auto_map": {"AutoModelForSequenceClassification": "evil.Evil", "AutoConfig": "evil.Evil"}}),
        ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["evil.Evil", None]}, "tokenizer_class": "Evil"}),
    ],
)
def test_code_in_the_folder_never_runs(folder, tmp_path, name, values):
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    change_json(folder, name, **values)
    Model.open(folder, device="cpu").predict(["rocket"])
    assert not (tmp_path / "ran").exists()


def test_a_link_out_of_the_folder_shows_nothing_of_its_target(folder, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret word is xyzzy " * 100)
    (folder / "masker.safetensors").unlink()
    (folder / "masker.safetensors").symlink_to(secret)
    assert "xyzzy" not in refusal(folder)
    (folder / "masker.json").unlink()
    (folder / "masker.json").symlink_to(secret)
    assert "xyzzy" not in refusal(folder)


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("config.json", [], "config.json holds no keys and values"),
        ("config.json", {"num_attention_heads": 0}, "the weights in folder"),
        ("config.json", {"hidden_size": 10**7}, "the tensors do not have the shapes that config.json says"),
        (
            "config.json",
            {"max_position_embeddings": 10**11},
            "the tensors do not have the shapes that config.json says",
        ),
        ("tokenizer_config.json", [], "the tokenizer in folder"),
        ("tokenizer_config.json", {"tokenizer_class": {"a": 1}}, "the tokenizer in folder"),
        ("masker.json", {"settings": None}, "masker.json"),
        ("masker.json", {"tensors": 3}, "tensors: 3 is not a file of the folder"),
        ("masker.json", {"tensors": ".."}, "tensors: '..' is not a file of the folder"),
        ("model.safetensors.index.json", {"weight_map": {"a": "../b.safetensors"}}, "is not a file of the folder"),
    ],
)
def test_files_that_lead_a_library_astray(folder, name, content, named):
    if isinstance(content, dict) and (folder / name).is_file():
        change_json(folder, name, **content)
    else:
        (folder / name).write_text(json.dumps(content))
    assert named in refusal(folder)


def test_a_vocabulary_that_does_not_fit_the_weights(folder):
    content = json.loads((folder / "tokenizer.json").read_text())
    content["model"]["vocab"]["rocket"] = 5000
    (folder / "tokenizer.json").write_text(json.dumps(content))
    assert "does not fit its weights: it has token 5000, they have vectors for" in refusal(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda words: {**words, "vocabulary_size": 10**13},
        lambda words: {**words, "keywords": [{"word": "x", "token_ids": [7], "score": 1}] * (MOST_KEYWORDS + 1)},
    ],
)
def test_keywords_that_would_take_all_memory(folder, change):
    words = json.loads((folder / "masker.json").read_text())["keywords"]
    change_json(folder, "masker.json", keywords=change(words))
    assert "keywords of a vocabulary of" in refusal(folder)


def test_files_too_large_to_be_what_they_seem(folder):
    """Sparse files: nothing of them is on the disk, all of it would be in memory."""
    for name, most in (("masker.safetensors", MOST_TENSORS), ("masker.json", MOST_JSON)):
        with (folder / name).open("r+b") as file:
            file.truncate(most + 1)
        assert f"{name} has {most + 1:,} bytes, more than {most:,}" in refusal(folder)


def test_statistics_beyond_all_numbers(folder):
    def spoil(tensors):
        tensors.update(
            {name: np.full_like(array, np.inf) for name, array in tensors.items() if array.dtype.kind == "f"}
        )

    change_tensors(folder, spoil, "masker.safetensors")
    assert "damaged" in refusal(folder) or "NaN" in refusal(folder)


def test_links_that_lead_out_of_the_folder(folder, tmp_path):
    """A copy of the folder, as calibrate and export make it, would hold what they lead to."""
    (tmp_path / "secret").write_text("xyzzy")
    for target in (tmp_path / "secret", "/dev/zero", folder, tmp_path):
        (folder / "notes.txt").symlink_to(target)
        assert "contains a link that leads out of it (notes.txt)" in refusal(folder)
        (folder / "notes.txt").unlink()
    (folder / "notes.txt").symlink_to("config.json")
    assert Model.open(folder, device="cpu").classes


def test_a_folder_of_the_hubs_cache_consists_of_links(folder, tmp_path):
    snapshot = tmp_path / "models--somebody--model" / "snapshots" / "0123"
    blobs = snapshot.parent.parent / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for file in folder.iterdir():
        shutil.move(file, blobs / file.name)
        (snapshot / file.name).symlink_to(f"../../blobs/{file.name}")
    assert Model.open(snapshot, device="cpu").classes


def test_opening_a_model_trusts_no_code_whatever_it_says_of_itself(folder):
    """``extend --retrain`` trains with the settings of the folder, from the encoder in the folder."""
    settings = json.loads((folder / "masker.json").read_text())["settings"]
    settings["model"]["trust_remote_code"] = True
    change_json(folder, "masker.json", settings=settings)
    assert Model.open(folder, device="cpu").settings.model.trust_remote_code is False
