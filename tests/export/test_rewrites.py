"""The rewrites of a graph keep its numbers and touch only the nodes they may."""

from __future__ import annotations

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from masker.export.rewrites import cut_document_token_early, document_token_nodes, split_layer_norms  # noqa: E402

WIDTH = 8


def tensor(name, *shape):
    draw = np.random.default_rng(len(name))
    return numpy_helper.from_array(draw.normal(size=shape).astype(np.float32), name)


def graph_of(nodes, initializers, outputs):
    first = numpy_helper.from_array(np.array(0), "first")
    hidden = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["B", "T", WIDTH])
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "test", [hidden], results, [first, *initializers])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def layer(*, also=()):
    """hidden -> softmax over tokens, in place of attention -> dense, add and norm, dense -> row 0."""
    nodes = [
        helper.make_node("Softmax", ["hidden"], ["mixed"], axis=1),
        helper.make_node("MatMul", ["mixed", "matrix"], ["dense"]),
        helper.make_node(
            "SkipLayerNormalization", ["dense", "hidden", "weight", "shift", "bias"], ["normed"],
            domain="com.microsoft", epsilon=1e-6,
        ),
        helper.make_node("MatMul", ["normed", "matrix"], ["last"]),
        helper.make_node("Gather", ["last", "first"], ["features"], axis=1),
        *also,
    ]  # fmt: skip
    weights = [tensor("matrix", WIDTH, WIDTH), *(tensor(name, WIDTH) for name in ("weight", "shift", "bias"))]
    return nodes, weights


def run(model, hidden):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"hidden": hidden})


HIDDEN = np.random.default_rng(0).normal(size=(3, 5, WIDTH)).astype(np.float32)


def test_the_row_is_cut_behind_the_last_mixing_of_tokens():
    """Three nodes work token by token; both of their inputs, the mixture and the skip connection, are cut."""
    model = graph_of(*layer(), ["features"])
    before = run(model, HIDDEN)
    assert cut_document_token_early(model) == 3
    assert sorted(node.input[0] for node in model.graph.node if node.op_type == "Slice") == ["hidden", "mixed"]
    np.testing.assert_allclose(run(model, HIDDEN), before, atol=1e-6)


def test_what_other_nodes_need_whole_stays_whole():
    """The mean of "normed" over tokens is an output too, so only the last product may be cut."""
    mean = helper.make_node("ReduceMean", ["normed"], ["mean"], axes=[1], keepdims=0)
    model = graph_of(*layer(also=[mean]), ["features", "mean"])
    before = run(model, HIDDEN)
    assert cut_document_token_early(model) == 1
    for ours, theirs in zip(run(model, HIDDEN), before, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("change", ["other row", "other axis", "output", "constant by token"])
def test_other_graphs_are_left_alone(change):
    nodes, weights = layer()
    outputs = ["features"]
    if change == "other row":
        weights.append(numpy_helper.from_array(np.array(1), "second"))
        nodes[-1].input[1] = "second"
    elif change == "other axis":
        nodes[-1].attribute[0].i = 0
    elif change == "output":
        outputs.append("last")
    else:
        weights.append(tensor("places", 5, WIDTH))
        nodes[3:4] = [helper.make_node("Add", ["normed", "places"], ["last"])]
    model = graph_of(nodes, weights, outputs)
    assert cut_document_token_early(model) == 0
    assert not any(node.op_type == "Slice" for node in model.graph.node)


def test_layer_norms_taken_apart_give_the_same_numbers():
    model = graph_of(*layer(), ["features"])
    before = run(model, HIDDEN)
    assert split_layer_norms(model) == 1
    assert [node.op_type for node in model.graph.node] == [
        "Softmax", "MatMul", "Add", "Add", "LayerNormalization", "MatMul", "Gather",
    ]  # fmt: skip
    np.testing.assert_allclose(run(model, HIDDEN), before, atol=1e-5)


def test_nodes_behind_the_cut_are_known_by_name():
    nodes, weights = layer()
    for node in nodes:
        node.name = f"node of {node.output[0]}"
    model = graph_of(nodes, weights, ["features"])
    assert document_token_nodes(model) == []
    cut_document_token_early(model)
    assert document_token_nodes(model) == [f"node of {name}" for name in ("dense", "normed", "last", "features")]
