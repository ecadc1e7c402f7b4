"""From a PyTorch classifier to an ONNX graph: export, fusion, quantization.

ONNX Runtime's fusions recognise the output of the tracing exporter with eager attention. With ``sdpa`` attention, or
from the newer exporter, each attention layer remains a dozen small nodes, so the newer exporter is only the fallback
for architectures that cannot be traced.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from masker.documents.encoding import Encoded, pad_rows
from masker.errors import ModelError
from masker.export.rewrites import cut_document_token_early, document_token_nodes, split_layer_norms
from masker.export.smoothing import smooth_activations
from masker.extras import require
from masker.inference.features import content_weights, document_features
from masker.inference.onnx_backend import output_name
from masker.modeling.pooling import MEAN, pooling_of

OPSET = 17


class _DocumentOutputs(nn.Module):
    """The classifier as a function from tensors to logits and features, the form that exporters take."""

    def __init__(self, classifier: Any, special_ids: Sequence[int], kinds: Sequence[str]) -> None:
        super().__init__()
        self.classifier = classifier
        self.special_ids, self.kinds = list(special_ids), list(kinds)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, ...]:
        segments = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        output = self.classifier(
            input_ids=input_ids,
            attention_mask=attention_mask,
            output_hidden_states=True,
            return_dict=True,
            **segments,
        )
        weights = content_weights(input_ids, attention_mask, self.special_ids)
        pooled = pooling_of(self.classifier.config) == MEAN
        features = document_features(output.hidden_states, weights, self.kinds, pooled=pooled)
        return output.logits, *features.values()


def write_graph(
    classifier: Any,
    example: Encoded,
    pad_id: int,
    file: Path,
    *,
    special_ids: Sequence[int] = (),
    kinds: Sequence[str] = ("cls",),
) -> None:
    """Write the graph of a classifier for any number and length of documents.

    Args:
        classifier: A sequence classifier, on the CPU, with eager attention.
        example: Documents of different lengths: without padding the exporter would drop the mask.
        pad_id: Vocabulary id of the padding token.
        file: The file to write.
        special_ids: Ids that are not content.
        kinds: Features to output besides the logits.

    Raises:
        ModelError: When the architecture cannot be exported.
    """
    require("exporting", "onnx")
    input_ids, attention_mask = pad_rows(example.input_ids, pad_id)
    inputs = {"input_ids": input_ids, "attention_mask": attention_mask}
    if example.token_type_ids is not None:
        inputs["token_type_ids"] = pad_rows(example.token_type_ids, 0)[0]
    tensors = tuple(torch.from_numpy(values) for values in inputs.values())
    network = _DocumentOutputs(classifier, special_ids, kinds).eval()
    outputs = ["logits", *map(output_name, kinds)]
    axes = {name: {0: "documents", 1: "length"} for name in inputs} | {name: {0: "documents"} for name in outputs}
    common: dict[str, Any] = {"input_names": list(inputs), "output_names": outputs}
    with _quiet():
        try:
            with torch.no_grad():
                torch.onnx.export(
                    network, tensors, file, dynamo=False, opset_version=OPSET, dynamic_axes=axes, **common
                )
        except Exception as traced:  # exporters pass on whatever the failing operation raises
            require("exporting", "onnxscript")
            shapes = tuple({0: torch.export.Dim("documents"), 1: torch.export.Dim("length")} for _ in tensors)
            try:
                torch.onnx.export(
                    network, tensors, file, dynamo=True, dynamic_shapes=shapes, external_data=False, **common
                )
            except Exception:
                reason = " ".join(str(traced).split())[:200]
                kind = type(classifier).__name__
                raise ModelError(f"{kind} cannot be exported to ONNX ({reason}); use the torch backend") from None


def fuse_graph(file: Path, target: Path, config: Any) -> dict[str, int]:
    """Fuse the nodes of each attention, layer norm, activation and embedding into one; writes ``target``.

    Returns:
        The number of fused nodes of each kind; empty if fusion failed, and then there is no ``target``.
    """
    with _quiet():
        try:
            from onnxruntime.transformers import optimizer

            model = optimizer.optimize_model(
                str(file),
                model_type="bert",
                num_heads=getattr(config, "num_attention_heads", 0),
                hidden_size=getattr(config, "hidden_size", 0),
                opt_level=0,
            )
            fused = model.get_fused_operator_statistics()
            cut_document_token_early(model.model)
            split_layer_norms(model.model)
            model.save_model_to_file(str(target))
        except Exception:  # fusion is optional: the unfused graph is just as correct
            target.unlink(missing_ok=True)
            return {}
    return {name: int(count) for name, count in fused.items() if count}


def quantize_graph(file: Path, target: Path, batches: Sequence[Encoded], pad_id: int) -> bool:
    """Quantize the weights of the encoder's matrix products to 8 bits; writes ``target``.

    Weights have one scale per output; activations have one per batch, after large features were smoothed
    (:mod:`masker.export.smoothing`). Embeddings, the classification head, and nodes that work on the document token
    alone keep 32 bits: they take little time and decide the answer.

    Args:
        file: The 32-bit graph.
        target: The file to write.
        batches: Documents that show which features are large.
        pad_id: Vocabulary id of the padding token.

    Returns:
        Whether weights were limited to 7 bits, which processors without 8-bit dot products (VNNI) need: their sums of
        products would overflow.
    """
    onnx = require("exporting", "onnx")
    narrow = not _has_exact_products()
    with _quiet():
        from onnxruntime.quantization import QuantType, quantize_dynamic

        model = onnx.load(str(file))
        whole = [node.name for node in model.graph.node if node.op_type == "Gemm"] + document_token_nodes(model)
        try:
            smooth_activations(model, batches, pad_id, leave=whole)
            quantize_dynamic(
                model,
                target,
                op_types_to_quantize=["MatMul", "Attention"],
                per_channel=True,
                reduce_range=narrow,
                weight_type=QuantType.QInt8,
                # Quantization splits a Gemm into a MatMul of this name and an addition.
                nodes_to_exclude=[name + suffix for name in whole for suffix in ("", "_MatMul")],
                # Types cannot be inferred across fused nodes.
                extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
            )
        except Exception as error:  # as in write_graph
            reason = " ".join(str(error).split())[:200]
            raise ModelError(f"the graph cannot be quantized to 8 bits ({reason}); export it without --int8") from None
    return narrow


def _has_exact_products() -> bool:
    """Whether this processor sums products of 8-bit numbers without overflow; all but x86 do."""
    import platform

    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return True
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return "avx512_vnni" in flags or "avx_vnni" in flags


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the progress messages of exporters: stdout is for data."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
