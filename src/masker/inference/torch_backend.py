"""The native classifier of transformers in PyTorch, on any device."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from masker.documents.encoding import Encoded
from masker.inference.backend import TOKEN_HEAD, Floats, Weights
from masker.inference.batching import Advance, Rows, Step, run_in_batches
from masker.inference.document_attention import document_attention, last_layer_attention
from masker.inference.features import content_weights, document_features
from masker.inference.last_layer import DocumentTokenPass
from masker.inference.outputs import Outputs
from masker.inference.packed_linear import pack_linears
from masker.inference.torch_threads import single_core_team
from masker.masking.collator import Collator
from masker.modeling.devices import inference_tokens, resolve_device
from masker.modeling.heads import without_output_layer
from masker.modeling.pooling import MEAN, pooling_of
from masker.modeling.tokens import special_ids_of

#: Takes token ids, attention of the document token and content flags, all (B, T), and the (B,) row numbers.
VisitAttention = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, npt.NDArray[np.int64]], None]


class BatchInputs:
    """Turns rows of token ids into padded tensors on a device."""

    def __init__(self, tokenizer: Any, device: torch.device) -> None:
        self.collator = Collator(tokenizer.pad_token_id, sorted(special_ids_of(tokenizer)))
        self.device = device

    def __call__(self, encoded: Encoded, rows: Rows) -> dict[str, torch.Tensor]:
        """The arguments of an encoder's forward pass."""
        batch = self.collator([{**encoded[int(row)], "label": None} for row in rows])
        return {name: tensor.to(self.device, non_blocking=True) for name, tensor in batch.items()}


class TorchBackend:
    """A sequence classifier of transformers.

    Args:
        classifier: The classifier; it is moved to the device.
        tokenizer: Its tokenizer.
        device: A name for :func:`masker.modeling.devices.resolve_device`.
        bf16: Round the weights to bfloat16. The classifier cannot be saved then.
        tensors: Tensors of ``masker.safetensors`` that belong to the network: the token head is kept for saving.
    """

    def __init__(
        self,
        classifier: Any,
        tokenizer: Any,
        device: str = "auto",
        *,
        bf16: bool = False,
        tensors: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        self.device = resolve_device(device)
        self.classifier = classifier.to(self.device).eval()
        if bf16:
            self.classifier = self.classifier.bfloat16()
            pack_linears(self.classifier)
        self._run = DocumentTokenPass(self.classifier)
        self._inputs = BatchInputs(tokenizer, self.device)
        self.own_tensors = {
            name: torch.from_numpy(array) for name, array in (tensors or {}).items() if name.startswith(TOKEN_HEAD)
        }
        # Not every classifier's configuration has a hidden size; 1024 is that of a large encoder.
        self._max_tokens = inference_tokens(self.device, getattr(classifier.config, "hidden_size", 1024))

    @property
    def n_outputs(self) -> int:
        return int(self.classifier.config.num_labels)

    def predict_logits(self, encoded: Encoded, advance: Advance | None = None) -> Floats:
        @torch.inference_mode()
        def step(rows: Rows) -> dict[str, Floats]:
            output = self._run(**_lean(self._inputs(encoded, rows)))
            return {"logits": _array(output.logits)}

        none = np.empty((0, self.n_outputs), dtype=np.float32)
        found = _run(encoded, self._max_tokens, step, advance, self.device)
        return found.get("logits", none)

    def predict_outputs(
        self, encoded: Encoded, kinds: Sequence[str] = ("cls",), advance: Advance | None = None
    ) -> Outputs:
        special = self._inputs.collator.special_ids.tolist()
        pooled = pooling_of(self.classifier.config) == MEAN

        @torch.inference_mode()
        def step(rows: Rows) -> dict[str, Floats]:
            inputs = self._inputs(encoded, rows)
            output = self._run(**_lean(inputs), output_hidden_states=True)
            states = output.hidden_states
            weights = content_weights(inputs["input_ids"], inputs["attention_mask"], special).to(states[-1].dtype)
            features = document_features(states, weights, kinds, pooled=pooled)
            return {"logits": _array(output.logits), **{kind: _array(values) for kind, values in features.items()}}

        found = _run(encoded, self._max_tokens, step, advance, self.device)
        return Outputs(found.pop("logits"), found)

    def weights(self) -> Weights | None:
        if self.classifier.dtype != torch.float32:
            return None
        return Weights(self.classifier, {name: tensor.numpy() for name, tensor in self.own_tensors.items()})


def encoder_vectors(
    encoder: Any, tokenizer: Any, encoded: Encoded, advance: Advance | None = None, *, first: bool = False
) -> npt.NDArray[np.float32]:
    """(N, H) means of an encoder's last hidden states over the tokens of each row, scaled to length 1.

    With ``first``, the states of the first token.
    """
    encoder.eval()
    inputs_of = BatchInputs(tokenizer, encoder.device)

    @torch.inference_mode()
    def step(rows: Rows) -> dict[str, Floats]:
        inputs = inputs_of(encoded, rows)
        states = encoder(**inputs).last_hidden_state  # (B, T, H)
        read = states[:, 0] if first else (states * inputs["attention_mask"].unsqueeze(2)).sum(dim=1)
        return {"vectors": _array(torch.nn.functional.normalize(read, dim=1))}

    tokens = inference_tokens(encoder.device, encoder.config.hidden_size)
    return _run(encoded, tokens, step, advance, encoder.device)["vectors"]


def head_inputs(classifier: Any, tokenizer: Any, encoded: Encoded, device: str = "cpu") -> npt.NDArray[np.float32]:
    """(N, F) vectors that the output layer of a classifier reads, which is moved to the device."""
    with without_output_layer(classifier):
        return TorchBackend(classifier, tokenizer, device).predict_logits(encoded)


@torch.inference_mode()
def visit_attention(
    classifier: Any,
    tokenizer: Any,
    encoded: Encoded,
    visit: VisitAttention,
    advance: Advance | None = None,
    *,
    bf16: bool = False,
) -> None:
    """Show ``visit`` what the document token attends to in the last layer, averaged over heads, batch by batch.

    With ``bf16`` the encoder runs in bfloat16, as it does in training; the attention itself is computed in float32.
    Everything that ``visit`` gets is on the CPU.
    """
    if bf16:
        # A copy in bfloat16 is a tenth faster than autocast, which keeps the layer norms in float32.
        classifier = copy.deepcopy(classifier).bfloat16()
    classifier.eval()
    inputs_of = BatchInputs(tokenizer, classifier.device)
    with document_attention(classifier) as capture:

        def step(rows: Rows) -> dict[str, Floats]:
            inputs = inputs_of(encoded, rows)
            attention = last_layer_attention(classifier, capture, inputs).cpu()
            token_ids = inputs["input_ids"].cpu()
            content = torch.from_numpy(inputs_of.collator.content(token_ids.numpy()))
            visit(token_ids, attention, content & inputs["attention_mask"].cpu().bool(), rows)
            return {}

        run_in_batches(encoded, inference_tokens(classifier.device, classifier.config.hidden_size), step, advance)


def _run(
    encoded: Encoded, max_tokens: int, step: Step, advance: Advance | None, device: torch.device
) -> dict[str, Floats]:
    return run_in_batches(encoded, max_tokens, step, advance, workers=_workers(device), team=single_core_team)


def _workers(device: torch.device) -> int:
    """Batches to run side by side: one for each core that torch may use."""
    return torch.get_num_threads() if device.type == "cpu" else 1


def _array(tensor: torch.Tensor) -> Floats:
    array: Floats = tensor.float().cpu().numpy()
    return array


def _lean(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Leave out a mask that hides nothing: preparing it takes as long as a layer of a short text."""
    if inputs["attention_mask"].device.type == "cpu" and bool(inputs["attention_mask"].all()):
        return {name: tensor for name, tensor in inputs.items() if name != "attention_mask"}
    return inputs
