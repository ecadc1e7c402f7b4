"""Smoothing large features does not change products, and makes 8-bit products more exact."""

from __future__ import annotations

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from masker.documents.encoding import Encoded  # noqa: E402
from masker.export.graph import quantize_graph  # noqa: E402
from masker.export.smoothing import smooth_activations, smoothing_scale  # noqa: E402

WIDTH, WORDS = 32, 50
DRAW = np.random.default_rng(0)
TABLE = DRAW.normal(size=(WORDS, WIDTH)).astype(np.float32)
TABLE[:, 3] *= 30.0
MATRIX = DRAW.normal(size=(WIDTH, 4)).astype(np.float32)
ROWS = Encoded([DRAW.integers(1, WORDS, size=length) for length in (9, 4)], None, None, np.arange(2))


def graph_of(*nodes, outputs=("logits",), matrix=MATRIX):
    look_up = helper.make_node("Gather", ["table", "input_ids"], ["hidden"], name="look up")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["B", "T"]) for name in ("input_ids",)]
    mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["B", "T"])
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    weights = [numpy_helper.from_array(TABLE, "table"), numpy_helper.from_array(matrix, "matrix")]
    graph = helper.make_graph([look_up, *nodes], "test", [*inputs, mask], results, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def product():
    return graph_of(helper.make_node("MatMul", ["hidden", "matrix"], ["logits"], name="product"))


def run(model):
    content = model if isinstance(model, str) else model.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    ids = np.arange(1, WORDS)[None]
    return session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]


def test_scale_by_hand():
    """Sizes 1, 2, 2, 4, 20 have the median 2, so they are ½, 1, 1, 2, 10 medians, and s is 1, 1, 1, 2^0.7, 10^0.7."""
    scale = smoothing_scale(np.array([1.0, 2.0, 2.0, 4.0, 20.0]))
    np.testing.assert_allclose(scale, [1.0, 1.0, 1.0, 1.6245, 5.0119], rtol=1e-4)


def test_products_stay():
    before, model = run(product()), product()
    assert smooth_activations(model, [ROWS], 0) == 1
    np.testing.assert_allclose(run(model), before, rtol=1e-4, atol=1e-4)
    changed = numpy_helper.to_array(next(entry for entry in model.graph.initializer if entry.name == "matrix"))
    assert (changed[3] / MATRIX[3] > 5.0).all()


def test_padding_says_nothing_about_sizes():
    """The padding row of the table is enormous in feature 5; no document has it, so feature 5 is left alone."""
    model = product()
    table = TABLE.copy()
    table[0, 5] = 1e6
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(table, "table"))
    smooth_activations(model, [ROWS], 0)
    changed = numpy_helper.to_array(next(entry for entry in model.graph.initializer if entry.name == "matrix"))
    assert (changed[5] / MATRIX[5] < 3.0).all()


def test_one_division_serves_all_readers_of_an_input():
    nodes = [
        helper.make_node("MatMul", ["hidden", "matrix"], ["left"], name="left"),
        helper.make_node("MatMul", ["hidden", "other"], ["right"], name="right"),
        helper.make_node("Add", ["left", "right"], ["logits"], name="sum"),
    ]
    model = graph_of(*nodes)
    model.graph.initializer.append(numpy_helper.from_array(MATRIX + 1.0, "other"))
    before = run(model)
    assert smooth_activations(model, [ROWS], 0) == 1
    assert [node.op_type for node in model.graph.node].count("Mul") == 1
    np.testing.assert_allclose(run(model), before, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("case", ["named", "shared weights", "even"])
def test_what_is_left_alone(case):
    model = product()
    leave = ["product"] if case == "named" else []
    if case == "shared weights":
        model.graph.node.append(helper.make_node("MatMul", ["other", "matrix"], ["more"], name="again"))
        model.graph.node.insert(1, helper.make_node("Neg", ["hidden"], ["other"], name="minus"))
    if case == "even":
        model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.clip(TABLE, -2, 2), "table"))
    before = model.SerializeToString()
    assert smooth_activations(model, [ROWS], 0, leave) == 0
    assert model.SerializeToString() == before


def test_8_bits_lose_less(tmp_path, monkeypatch):
    import masker.export.graph as graph

    file = tmp_path / "whole.onnx"
    onnx.save(product(), file)
    exact = run(product())

    def error():
        quantize_graph(file, tmp_path / "small.onnx", [ROWS], 0)
        return float(np.abs(run(str(tmp_path / "small.onnx")) - exact).mean())

    evened = error()
    monkeypatch.setattr(graph, "smooth_activations", lambda *_, **__: 0)
    assert evened < 0.7 * error()
