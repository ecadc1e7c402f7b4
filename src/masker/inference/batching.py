"""Running a trained classifier over documents."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from masker.documents.encoding import Encoded, token_budget_batches
from masker.inference.document_attention import document_attention, last_layer_attention
from masker.inference.features import content_weights, document_features
from masker.masking.collator import Collator

#: Tokens of one batch, padding included; larger batches are slower on a CPU (they leave its cache) and take memory.
MAX_TOKENS = 1024

Advance = Callable[[int], None]


def content_special_ids(tokenizer: Any) -> set[int]:
    """Special tokens that are no content of a document. The unknown token stands for a real word, so it is content."""
    return set(tokenizer.all_special_ids) - {tokenizer.unk_token_id} | {tokenizer.pad_token_id}


@torch.inference_mode()
def predict_logits(
    classifier: Any, collator: Collator, encoded: Encoded, advance: Advance | None = None
) -> npt.NDArray[np.float32]:
    """(N, C) logits of f_doc for every row, in the order of the rows."""
    classifier.eval()
    logits = np.empty((len(encoded), classifier.config.num_labels), dtype=np.float32)
    for rows in token_budget_batches(encoded.lengths, MAX_TOKENS):
        inputs = _lean(_inputs(collator, encoded, rows, classifier.device))
        logits[rows] = classifier(**inputs).logits.float().cpu().numpy()
        if advance is not None:
            advance(len(rows))
    return logits


@torch.inference_mode()
def predict_outputs(
    classifier: Any, collator: Collator, encoded: Encoded, kinds: Sequence[str], advance: Advance | None = None
) -> tuple[npt.NDArray[np.float32], dict[str, npt.NDArray[np.float32]]]:
    """(N, C) logits and (N, H) features of each kind; see :mod:`masker.inference.features`."""
    classifier.eval()
    logits = np.empty((len(encoded), classifier.config.num_labels), dtype=np.float32)
    features = {kind: np.empty((len(encoded), classifier.config.hidden_size), dtype=np.float32) for kind in kinds}
    special = collator.special_ids.tolist()
    for rows in token_budget_batches(encoded.lengths, MAX_TOKENS):
        inputs = _inputs(collator, encoded, rows, classifier.device)
        output = classifier(**_lean(inputs), output_hidden_states=True)
        logits[rows] = output.logits.float().cpu().numpy()
        states = output.hidden_states
        weights = content_weights(inputs["input_ids"], inputs["attention_mask"], special).to(states[-1].dtype)
        for kind, values in document_features(states, weights, kinds).items():
            features[kind][rows] = values.float().cpu().numpy()
        if advance is not None:
            advance(len(rows))
    return logits, features


@torch.inference_mode()
def predict_means(
    encoder: Any, collator: Collator, encoded: Encoded, advance: Advance | None = None
) -> npt.NDArray[np.float32]:
    """(N, H) means of the last hidden states over the tokens of each row, scaled to length 1."""
    encoder.eval()
    means = np.empty((len(encoded), encoder.config.hidden_size), dtype=np.float32)
    for rows in token_budget_batches(encoded.lengths, MAX_TOKENS):
        inputs = _inputs(collator, encoded, rows, encoder.device)
        states = encoder(**inputs).last_hidden_state * inputs["attention_mask"].unsqueeze(2)  # (B, T, H)
        means[rows] = torch.nn.functional.normalize(states.sum(dim=1), dim=1).float().cpu().numpy()
        if advance is not None:
            advance(len(rows))
    return means


@torch.inference_mode()
def visit_attention(
    classifier: Any,
    collator: Collator,
    encoded: Encoded,
    visit: Callable[[torch.Tensor, torch.Tensor, torch.Tensor, npt.NDArray[np.int64]], None],
    advance: Advance | None = None,
    *,
    bf16: bool = False,
) -> None:
    """Call ``visit(token_ids, attention, content, rows)`` with (B, T) tensors for every batch of documents.

    ``attention`` is that of the document token in the last layer, averaged over heads. With ``bf16`` the encoder runs
    in bfloat16, as it does in training; the attention itself is always computed in float32.
    """
    if bf16:
        # A copy in bfloat16 is a tenth faster than autocast, which keeps the layer norms in float32.
        classifier = copy.deepcopy(classifier).bfloat16()
    classifier.eval()
    with document_attention(classifier) as capture:
        for rows in token_budget_batches(encoded.lengths, MAX_TOKENS):
            inputs = _inputs(collator, encoded, rows, classifier.device)
            attention = last_layer_attention(classifier, capture, inputs).cpu()
            token_ids = inputs["input_ids"].cpu()
            content = torch.from_numpy(collator.content(token_ids.numpy()))
            visit(token_ids, attention, content & inputs["attention_mask"].cpu().bool(), rows)
            if advance is not None:
                advance(len(rows))


def pool_windows(
    logits: npt.NDArray[np.float32], document: npt.NDArray[np.int64], n_documents: int, pooling: str
) -> npt.NDArray[np.float32]:
    """Join the logits of the windows of each document.

    Args:
        logits: (W, C) of all windows.
        document: (W,) whose window each row is.
        n_documents: N.
        pooling: ``mean`` of a document's windows, or their ``max``.

    Returns:
        (N, C) logits.
    """
    if pooling == "max":
        pooled = np.full((n_documents, logits.shape[1]), -np.inf, dtype=np.float32)
        np.maximum.at(pooled, document, logits)
        return pooled
    total = np.zeros((n_documents, logits.shape[1]), dtype=np.float64)
    np.add.at(total, document, logits)
    counts = np.bincount(document, minlength=n_documents)[:, None]
    return np.asarray(total / counts, dtype=np.float32)


def _inputs(
    collator: Collator, encoded: Encoded, rows: npt.NDArray[np.int64], device: torch.device
) -> dict[str, torch.Tensor]:
    batch = collator([{**encoded[int(row)], "label": None} for row in rows])
    return {name: tensor.to(device) for name, tensor in batch.items()}


def _lean(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Leave out a mask that hides nothing: preparing it takes as long as a layer of a short text."""
    if bool(inputs["attention_mask"].all()):
        return {name: tensor for name, tensor in inputs.items() if name != "attention_mask"}
    return inputs
