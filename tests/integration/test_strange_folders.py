"""Model folders that are damaged or made by somebody who means harm: refused in one line, or harmless."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from masker import Model, ModelError

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
