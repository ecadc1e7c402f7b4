r"""The total objective.

.. math::
    L_{total} = L_{CE} + \lambda_{MKR} L_{MKR} + \lambda_{MER} L_{MER}

Last equation of section "Regularization via Keyword Masking" of the paper, averaged over documents.
"""

from __future__ import annotations

import torch


def total_loss(
    classification: torch.Tensor,
    keyword_term: torch.Tensor | None,
    entropy_term: torch.Tensor | None,
    lambda_mkr: float,
    lambda_mer: float,
) -> torch.Tensor:
    """L_total of each document.

    Args:
        classification: (B,) L_CE.
        keyword_term: (B,) L_MKR, or L_CE(f_doc(x~), y) in the augmentation ablation; ``None`` if off.
        entropy_term: (B,) L_MER; ``None`` if off.
        lambda_mkr: Weight of the keyword term.
        lambda_mer: Weight of the entropy term.
    """
    total = classification
    if keyword_term is not None:
        total = total + lambda_mkr * keyword_term
    if entropy_term is not None:
        total = total + lambda_mer * entropy_term
    return total
