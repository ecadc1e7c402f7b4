"""Opening the network of a model folder."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from masker.errors import ConfigError, MissingPackageError
from masker.inference.opening import open_network
from masker.modeling.model_folder import load_manifest

FIXTURES = Path(__file__).parent.parent / "fixtures"


def opened(name: str, *arguments, **options):
    folder = FIXTURES / name
    return open_network(folder, load_manifest(folder).tensors, *arguments, **options)


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)


def test_torch_is_the_default():
    tokenizer, backend = opened("masker-bert", device="cpu")
    assert type(backend).__name__ == "TorchBackend" and tokenizer.is_fast
    assert set(backend.weights().tensors) == {"token_head.weight", "token_head.bias"}


@pytest.mark.parametrize("backend", [None, "torch", "torch-bf16"])
def test_without_torch_the_way_to_install_it_and_the_way_around_it_are_named(no_torch, backend):
    with pytest.raises(MissingPackageError) as caught:
        opened("masker-bert", backend)
    message = str(caught.value)
    assert message.startswith(f"backend {backend or 'torch'} needs torch (")
    assert "pip install 'masker[train]', or export the model elsewhere" in message and "\n" not in message


def test_a_linear_classifier_says_that_it_needs_torch(no_torch):
    with pytest.raises(MissingPackageError, match=r"^a linear classifier, which has no network to export, needs torch"):
        opened("linear-roberta", fine_tuned=False)


def test_a_linear_classifier_has_no_graph_with_or_without_torch(no_torch):
    with pytest.raises(ConfigError, match="linear classifier without a network for backend 'onnx'; leave it out"):
        opened("linear-roberta", "onnx", fine_tuned=False)


def test_a_linear_classifier():
    tokenizer, backend = opened("linear-roberta", device="cpu", fine_tuned=False)
    assert type(backend).__name__ == "LinearBackend" and tokenizer.is_fast


def test_an_unknown_backend_and_a_device_for_a_graph():
    with pytest.raises(ConfigError, match="one of torch, torch-bf16, onnx, onnx-int8; got 'tensorflow'"):
        opened("masker-bert", "tensorflow")
    with pytest.raises(ConfigError, match=r"backend onnx-int8 runs on the CPU; got --device mps"):
        opened("masker-bert", "onnx-int8", "mps")


def test_a_folder_without_weights_is_an_exported_one(tmp_path):
    from masker.export import export_onnx
    from masker.modeling.folder_tokenizer import FolderTokenizer

    source = shutil.copytree(FIXTURES / "masker-bert", tmp_path / "model")
    folder = export_onnx(source, output=tmp_path / "served").folder
    tokenizer, backend = open_network(folder, load_manifest(folder).tensors)
    assert type(backend).__name__ == "OnnxBackend" and isinstance(tokenizer, FolderTokenizer)
