"""Which options let a worker use a GPU."""

from __future__ import annotations

import pytest

from masker.commands.predict_options import PredictOptions


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, True),
        ({"backend": "torch-bf16", "device": "cuda"}, True),
        ({"device": "cpu"}, False),
        ({"backend": "onnx"}, False),
        ({"backend": "onnx-int8"}, False),
    ],
)
def test_a_gpu_is_of_use_to_pytorch_only(options, expected):
    assert PredictOptions(**options).can_use_gpu is expected
