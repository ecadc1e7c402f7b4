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
    """(B,) losses L_total; a term that is off is ``None``.

    The keyword term is L_MKR or, in the augmentation ablation, L_CE(f_doc(x~), y); the entropy term is L_MER.
    """
    total = classification
    if keyword_term is not None:
        total = total + lambda_mkr * keyword_term
    if entropy_term is not None:
        total = total + lambda_mer * entropy_term
    return total
