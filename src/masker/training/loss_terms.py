"""The loss terms of a batch, (N,) values each, from what the network says of its documents and their views.

================  =================================================================  ==========================
term              of                                                                 equation in
================  =================================================================  ==========================
``L_CE``          the documents                                                      :mod:`masker.losses`
``L_MKR``         the keyword-masked view                                            ``reconstruction.py``
``L_MER``         the context-masked view                                            ``masked_entropy.py``
``L_attn``        the attention of the documents (the paper's negative result)       ``uniform_attention.py``
================  =================================================================  ==========================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from masker.losses.document_loss import classification_loss
from masker.losses.masked_entropy import entropy_loss
from masker.losses.no_class import no_class_loss
from masker.losses.product_of_experts import product_of_experts
from masker.losses.reconstruction import reconstruction_loss
from masker.losses.uniform_attention import uniform_attention_loss

if TYPE_CHECKING:
    from masker.config import Settings
    from masker.masking.collator import Collator

Tensors = dict[str, torch.Tensor]


def loss_terms(
    batch: Tensors, outputs: Tensors, collator: Collator, settings: Settings, class_weights: torch.Tensor | None = None
) -> Tensors:
    """The terms by name; those of views only if the batch has them.

    Args:
        batch: What the collator made.
        outputs: What :class:`masker.modeling.network.MaskerNetwork` made of it.
        collator: Knows which views there are, and which tokens are special.
        settings: All settings.
        class_weights: (C,) weights of the documents of each class in L_CE.
    """
    labels, doc_logits, head = batch["labels"], outputs["doc_logits"], settings.model.head
    weights = None if class_weights is None else class_weights.to(doc_logits.device)
    documents = doc_logits[: len(labels)]
    if "bias_logits" in batch:
        documents = product_of_experts(documents, batch["bias_logits"], head)
    terms = {"L_CE": classification_loss(documents, labels, head, weights)}
    if "attention" in outputs:
        special = torch.from_numpy(collator.special_ids).to(labels.device)
        content = ~torch.isin(batch["input_ids"][: len(labels)], special)
        terms["L_attn"] = uniform_attention_loss(outputs["attention"][: len(labels)], content)
    views = collator.views
    if views is None or "view_of_row" not in batch:
        return terms
    # The documents with views count for the others.
    if views.keyword_view:
        terms["L_MKR"] = _keyword_term(batch, outputs, settings, weights) / views.share
    if views.context_view:
        terms["L_MER"] = _context_term(batch, outputs, settings) / views.share
    return terms


def _keyword_term(batch: Tensors, outputs: Tensors, settings: Settings, weights: torch.Tensor | None) -> torch.Tensor:
    """(N,) L_MKR, or the classification loss of the view where that is asked for."""
    labels, owner = batch["labels"], batch["document_of_row"]
    if settings.loss.keyword_view == "augment":
        rows = batch["view_of_row"] == 1
        losses = classification_loss(outputs["doc_logits"][rows], labels[owner[rows]], settings.model.head, weights)
        return losses.new_zeros(len(labels)).index_add(0, owner[rows], losses)
    return reconstruction_loss(
        outputs["token_logits"],
        batch["keyword_labels"],
        owner[batch["masked_rows"]],
        len(labels),
        settings.loss.mkr_reduction,
    )


def _context_term(batch: Tensors, outputs: Tensors, settings: Settings) -> torch.Tensor:
    """(N,) L_MER. Where context words are dropped, the view has rows of its own."""
    dropped = outputs.get("context_doc_logits")
    view = outputs["doc_logits"][batch["view_of_row"] == 2] if dropped is None else dropped
    losses = (no_class_loss if settings.loss.mer_target == "no-class" else entropy_loss)(view)
    return losses.new_zeros(len(batch["labels"])).index_add(0, batch["context_documents"], losses)
