"""Tensors are written whole or not at all."""

import numpy as np
import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from masker.modeling.tensors import write_arrays, write_tensors


def test_round_trip_with_strided_tensors(tmp_path):
    tensor = torch.arange(6.0).reshape(2, 3)
    write_tensors({"t": tensor.T}, tmp_path / "x.safetensors")
    torch.testing.assert_close(load_file(tmp_path / "x.safetensors")["t"], tensor.T)
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]


def test_round_trip_with_strided_arrays(tmp_path):
    arrays = {"t": np.arange(6.0).reshape(2, 3).T, "one": np.array(7), "flags": np.array([True, False])[::-1]}
    write_arrays(arrays, tmp_path / "x.safetensors")
    for name, tensor in load_file(tmp_path / "x.safetensors").items():
        np.testing.assert_array_equal(tensor.numpy(), arrays[name])
        assert tensor.numpy().dtype == arrays[name].dtype
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]


def test_a_full_disk_is_an_os_error_and_the_old_file_stays(tmp_path, monkeypatch):
    import safetensors.torch

    write_tensors({"t": torch.ones(2)}, tmp_path / "x.safetensors")

    def torn(tensors, path, metadata=None):
        path.write_bytes(b"half a file")
        raise SafetensorError("No space left on device")

    monkeypatch.setattr(safetensors.torch, "save_file", torn)
    with pytest.raises(OSError, match="No space left"):
        write_tensors({"t": torch.zeros(2)}, tmp_path / "x.safetensors")
    assert load_file(tmp_path / "x.safetensors")["t"].tolist() == [1.0, 1.0]
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]
