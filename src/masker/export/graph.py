"""From a classifier in PyTorch to an ONNX graph: export, fusion, quantisation.

The tracing exporter with eager attention is what ONNX Runtime's fusions recognise; with ``sdpa`` attention, or from the
newer exporter, the attention of each layer stays a dozen small nodes. The newer one is the fallback for architectures
that cannot be traced.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from masker.documents.encoding import Encoded
from masker.errors import ModelError
from masker.export.rewrites import cut_document_token_early, document_token_nodes, split_layer_norms
from masker.export.smoothing import smooth_activations
from masker.inference.features import content_weights, document_features
from masker.inference.onnx_backend import output_name, require_onnx
from masker.masking.collator import pad_rows

OPSET = 17
#: Documents that parity is measured on, in batches of different lengths.
PARITY_ROWS, PARITY_BATCH = 32, 8


class _DocumentOutputs(nn.Module):
    """The classifier as a function of tensors to logits and features, as an exporter wants it."""

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
        return output.logits, *document_features(output.hidden_states, weights, self.kinds).values()


def random_batches(tokenizer: Any, classifier: Any, max_length: int) -> list[Encoded]:
    """Documents of random ids, from very short to ``max_length``, in batches that need padding."""
    draw = np.random.default_rng(0)
    allowed = np.setdiff1d(np.arange(min(len(tokenizer), classifier.config.vocab_size)), [tokenizer.pad_token_id])
    lengths = draw.permutation(np.linspace(min(3, max_length), max_length, PARITY_ROWS).astype(int))
    ids = [draw.choice(allowed, size=length) for length in lengths]
    kinds = max(1, getattr(classifier.config, "type_vocab_size", 0) or 0)
    types = [np.sort(draw.integers(0, min(2, kinds), size=length)) for length in lengths]
    has_types = "token_type_ids" in tokenizer.model_input_names
    rows = Encoded(ids, types if has_types else None, None, np.arange(PARITY_ROWS))
    return [rows.take(range(at, at + PARITY_BATCH)) for at in range(0, PARITY_ROWS, PARITY_BATCH)]


def write_graph(
    classifier: Any,
    example: Encoded,
    pad_id: int,
    file: Path,
    *,
    special_ids: Sequence[int] = (),
    kinds: Sequence[str] = ("cls",),
) -> None:
    """Write the graph of the classifier, with the number and the length of documents left open.

    Args:
        classifier: A sequence classifier, on the CPU, with eager attention.
        example: Documents of different lengths: were none padded, the exporter would drop the mask.
        pad_id: Vocabulary id of the padding token.
        file: Where to.
        special_ids: Ids that are no content of a document.
        kinds: Features that the graph gives beside the logits.

    Raises:
        ModelError: When the architecture cannot be exported.
    """
    require_onnx("onnx")
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
        except Exception as traced:  # exporters raise whatever the operation that stopped them raises
            require_onnx("onnxscript")
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
    """Join the nodes of attention, layer norms, activations and embeddings, each into one; writes ``target``.

    Returns:
        How many of each were joined; empty, and no ``target``, where fusion failed.
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
        except Exception:  # an optional step on graphs of any shape: the graph as it was serves as well
            target.unlink(missing_ok=True)
            return {}
    return {name: int(count) for name, count in fused.items() if count}


def quantize_graph(file: Path, target: Path, batches: Sequence[Encoded], pad_id: int) -> bool:
    """Give the encoder's matrix products weights of 8 bits; writes ``target``.

    Weights have one scale for each output, activations one that is found anew for each batch, after large features were
    evened out (:mod:`masker.export.smoothing`). Embeddings, the classification head, and what works on the document
    token alone stay as they are: they cost little time, and decide.

    Args:
        file: The graph as it is.
        target: Where to.
        batches: Documents that show which features are large.
        pad_id: Vocabulary id of the padding token.

    Returns:
        Whether weights were held to 7 bits, which processors without 8-bit dot products (VNNI) need: their sums of
        products overflow otherwise.
    """
    onnx = require_onnx("onnx")
    require_onnx("onnxruntime")
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
                # Quantisation splits a Gemm into a MatMul of this name and an addition.
                nodes_to_exclude=[name + suffix for name in whole for suffix in ("", "_MatMul")],
                # Shapes and types cannot be inferred beyond fused nodes.
                extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
            )
        except Exception as error:  # as for exporters
            reason = " ".join(str(error).split())[:200]
            raise ModelError(f"the graph does not take 8-bit weights ({reason}); export it without --int8") from None
    return narrow


def _has_exact_products() -> bool:
    """Whether this processor sums products of 8-bit numbers without overflow; other kinds than x86 all do."""
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
    """Inside, exporters tell neither the screen nor the log how they get on; standard output is for data."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
