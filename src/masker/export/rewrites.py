"""Two rewrites of an ONNX graph that change its speed but not its numbers.

- After the last attention only the document token is used, and every operation works token by token: slice its row out
  before that work instead of after it. With 6 layers this saves a tenth of all the work.
- ONNX Runtime's fused "add, then layer norm" is slower on a CPU than the two separate nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from masker.extras import require

#: Operations that work token by token if their other inputs are constants.
_TOKEN_WISE = {"MatMul", "Add", "BiasGelu", "Gelu", "FastGelu", "SkipLayerNormalization", "LayerNormalization"}
_FIRST, _SECOND = "document_token_start", "document_token_end"


def cut_document_token_early(model: Any) -> int:
    """Let the nodes after the last attention compute the document token only.

    Args:
        model: An ONNX model whose outputs take row 0 of axis 1 of the last hidden state; changed in place.

    Returns:
        The number of nodes with less work; 0 if the graph has another form.
    """
    onnx = require("exporting", "onnx")
    graph = model.graph
    arrays = _constants(graph)
    less = _document_token_only(graph, arrays)
    if not less:
        return 0
    borders = {name for node in less.values() for name in node.input if name} - less.keys() - arrays.keys()
    graph.initializer.extend(
        onnx.numpy_helper.from_array(np.array([place]), name) for place, name in ((0, _FIRST), (1, _SECOND))
    )
    nodes: list[Any] = []
    cut: set[str] = set()
    for node in graph.node:
        if node.output[0] in less:
            for place, name in enumerate(node.input):
                if name not in borders:
                    continue
                if name not in cut:
                    nodes.append(onnx.helper.make_node("Slice", [name, _FIRST, _SECOND, _SECOND], [f"{name}_document"]))
                    cut.add(name)
                node.input[place] = f"{name}_document"
        nodes.append(node)
    replace_nodes(graph, nodes)
    return len(less)


def _constants(graph: Any) -> dict[str, Any]:
    """Arrays of initializers and constant nodes, by name."""
    onnx = require("exporting", "onnx")
    arrays = {entry.name: onnx.numpy_helper.to_array(entry) for entry in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            arrays[node.output[0]] = onnx.numpy_helper.to_array(node.attribute[0].t)
    return arrays


def _document_token_only(graph: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """Token-wise nodes of which only the document token is used in the end, by the name of their output."""
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    outputs = {entry.name for entry in graph.output}
    less: dict[str, Any] = {}
    for node in reversed(graph.node):
        used = [reader for name in node.output for reader in readers.get(name, [])]
        if (
            used
            and not outputs.intersection(node.output)
            and _is_token_wise(node, arrays)
            and all(reader.output[0] in less or _takes_document_token(reader, arrays) for reader in used)
        ):
            less[node.output[0]] = node
    return less


def _takes_document_token(node: Any, arrays: dict[str, Any]) -> bool:
    axis = next((entry.i for entry in node.attribute if entry.name == "axis"), 0)
    index = arrays.get(node.input[1]) if node.op_type == "Gather" else None
    return index is not None and axis == 1 and index.shape == () and int(index) == 0


def _is_token_wise(node: Any, arrays: dict[str, Any]) -> bool:
    if node.op_type not in _TOKEN_WISE:
        return False
    # The hidden state must be the left factor, and no constant may vary from token to token.
    widest = 2 if node.op_type == "MatMul" else 1
    return node.input[0] not in arrays and all(arrays[name].ndim <= widest for name in node.input if name in arrays)


def document_token_nodes(model: Any) -> list[str]:
    """Names of the nodes that :func:`cut_document_token_early` reduced to one token, and of their successors."""
    seen: set[str] = set()
    names = []
    for node in model.graph.node:
        if node.op_type == "Slice" and node.input[1] == _FIRST:
            seen.update(node.output)
        elif seen.intersection(node.input):
            seen.update(node.output)
            names.append(node.name)
    return [name for name in names if name]


def split_layer_norms(model: Any) -> int:
    """Split fused nodes of addition and layer norm; returns how many there were."""
    onnx = require("exporting", "onnx")
    nodes: list[Any] = []
    count = 0
    for node in model.graph.node:
        if node.op_type != "SkipLayerNormalization" or len(node.output) > 1 or len(node.input) < 4:
            nodes.append(node)
            continue
        left, right, weight, shift, *bias = node.input
        name = node.output[0]
        if bias and bias[0]:
            nodes.append(onnx.helper.make_node("Add", [left, bias[0]], [f"{name}_biased"]))
            left = f"{name}_biased"
        nodes.append(onnx.helper.make_node("Add", [left, right], [f"{name}_sum"]))
        epsilon = next(entry.f for entry in node.attribute if entry.name == "epsilon")
        norm = [f"{name}_sum", weight, shift]
        nodes.append(onnx.helper.make_node("LayerNormalization", norm, [name], axis=-1, epsilon=epsilon))
        count += 1
    replace_nodes(model.graph, nodes)
    return count


def replace_nodes(graph: Any, nodes: list[Any]) -> None:
    """Replace the nodes of a graph; the new ones may include nodes it already has."""
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)
