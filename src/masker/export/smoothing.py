r"""Smoothing of the inputs of 8-bit products, so that less is lost to rounding.

A batch of activations has one scale, set by its largest value. Encoders have a few features that are ten times as large
as all others, in every text, which leave the others a handful of steps. Dividing such features and multiplying the
weights that read them does not change the product (Xiao et al. 2023, "SmoothQuant"):

.. math::
    X W = (X \operatorname{diag}(s)^{-1}) (\operatorname{diag}(s) W), \qquad
    s_j = \max(1, r_j / \operatorname{median}(r))^{\alpha}, \quad r_j = \max_i \lvert X_{ij} \rvert

Deviation: the published s includes the largest weight of each row and is set on a sample of the corpus. Large features
belong to the encoder, not to the text (random ids show the same ones), so no text is needed; and weights already have
one scale per output.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.documents.encoding import Encoded, pad_rows
from masker.export.rewrites import replace_nodes
from masker.extras import require

#: α: the share of its excess (on a logarithmic scale) that a feature passes on to the weights.
SHARE = 0.7
#: An input whose largest feature is below this many medians is left alone: the division would cost time for nothing.
LEAST_EXCESS = 4.0


def smoothing_scale(largest: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """(H,) divisors s of features with the (H,) largest absolute values ``largest``."""
    typical = max(float(np.median(largest)), 1e-6)
    return np.asarray(np.maximum(1.0, largest / typical) ** SHARE, dtype=np.float32)


def smooth_activations(model: Any, batches: Sequence[Encoded], pad_id: int, leave: Sequence[str] = ()) -> int:
    """Smooth the inputs of matrix products and fused attentions with constant weights.

    Args:
        model: An ONNX model; changed in place, with the same outputs up to rounding.
        batches: Documents to measure the features on.
        pad_id: Vocabulary id of the padding token.
        leave: Names of nodes to leave alone.

    Returns:
        The number of inputs smoothed.
    """
    onnx = require("exporting", "onnx")
    graph = model.graph
    weights = {entry.name: entry for entry in graph.initializer}
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    inputs: dict[str, list[Any]] = {}
    for node in graph.node:
        # Weights shared by several layers cannot be scaled for one of them.
        own = len(node.input) > 1 and node.input[1] in weights and len(readers[node.input[1]]) == 1
        if node.op_type in ("MatMul", "Attention") and own and node.name not in leave:
            inputs.setdefault(node.input[0], []).append(node)
    if not inputs:
        return 0
    before: dict[str, Any] = {}  # by the output of the node they precede
    for name, largest in _largest_features(model, list(inputs), batches, pad_id).items():
        scale = smoothing_scale(largest)
        if not largest.max() > LEAST_EXCESS * np.median(largest):
            continue
        even = f"{name}_even"
        for node in inputs[name]:
            entry = weights[node.input[1]]
            matrix = onnx.numpy_helper.to_array(entry) * scale[:, None]
            entry.CopyFrom(onnx.numpy_helper.from_array(matrix.astype(np.float32), entry.name))
            node.input[0] = even
        # The quantizer names an input's scale "…_scale", so that name is taken.
        graph.initializer.append(onnx.numpy_helper.from_array(1.0 / scale, f"{even}_factor"))
        before[inputs[name][0].output[0]] = onnx.helper.make_node("Mul", [name, f"{even}_factor"], [even], name=even)
    nodes = [made for node in graph.node for made in (before.get(node.output[0]), node) if made is not None]
    replace_nodes(graph, nodes)
    return len(before)


def _largest_features(
    model: Any, names: list[str], batches: Sequence[Encoded], pad_id: int
) -> dict[str, npt.NDArray[np.float32]]:
    """The largest absolute value of each feature of the named tensors, outside padding."""
    import onnxruntime as runtime

    onnx = require("exporting", "onnx")
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    watched.graph.output.extend(
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names
    )
    session = runtime.InferenceSession(watched.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = {entry.name for entry in session.get_inputs()}
    found: dict[str, npt.NDArray[np.float32]] = {}
    for batch in batches:
        input_ids, attention_mask = pad_rows(batch.input_ids, pad_id)
        feed = {"input_ids": input_ids, "attention_mask": attention_mask}
        if "token_type_ids" in wanted:
            types = batch.token_type_ids
            feed["token_type_ids"] = np.zeros_like(input_ids) if types is None else pad_rows(types, 0)[0]
        for name, values in zip(names, session.run(names, feed), strict=True):
            # After the last attention one token is left, which is never padding.
            rows = values[attention_mask.astype(bool)] if values.shape[:2] == attention_mask.shape else values
            largest = np.abs(rows).reshape(-1, values.shape[-1]).max(axis=0)
            found[name] = np.maximum(found[name], largest) if name in found else largest
    return found
