r"""Loss of the document head, L_CE in the paper.

* ``multi-class``: cross-entropy of the softmax, :math:`-\log softmax(z)_y`.
* ``one-vs-rest``: C independent sigmoids (Shu et al. 2017), the sum over classes of the binary cross-entropies,
  :math:`-\log \sigma(z_y) - \sum_{c \ne y} \log(1 - \sigma(z_c))`.
* ``multi-label``: the same sum, where every label that a document has is a positive term,
  :math:`-\sum_{c \in Y} \log \sigma(z_c) - \sum_{c \notin Y} \log(1 - \sigma(z_c))`.
* ``regression``: squared error, :math:`(z - y)^2`.

Deviation: the paper does not say whether the 1-vs-rest terms are summed or averaged over classes. We sum; a mean would
shrink the gradient of the single positive term as 1/C.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from masker.config import Head


def classification_loss(
    doc_logits: torch.Tensor, labels: torch.Tensor, head: Head, class_weights: torch.Tensor | None = None
) -> torch.Tensor:
    """(B,) losses L_CE(f_doc(x), y).

    Args:
        doc_logits: (B, C) outputs of f_doc; (B, 1) for regression.
        labels: (B,) class indices, or scores for regression; (B, C) flags for multi-label.
        class_weights: (C,) factor per true class, with mean 1 over the training documents.
    """
    if head == "regression":
        return (doc_logits[:, 0].float() - labels.float()).square()
    logits = doc_logits.float()
    if head == "multi-class":
        loss = functional.cross_entropy(logits, labels, reduction="none")
    else:
        targets = labels if head == "multi-label" else functional.one_hot(labels, logits.shape[1])
        targets = targets.to(logits.dtype)  # (B, C)
        loss = functional.binary_cross_entropy_with_logits(logits, targets, reduction="none").sum(dim=1)
    return loss if class_weights is None else loss * class_weights[labels]


def balanced_class_weights(labels: torch.Tensor, n_classes: int) -> torch.Tensor:
    """(C,) weights N / (C · N_c), which give every class the same total weight; 0 for a class without documents."""
    counts = torch.bincount(labels, minlength=n_classes).float()
    return torch.where(counts > 0, len(labels) / (n_classes * counts.clamp_min(1)), 0.0)
