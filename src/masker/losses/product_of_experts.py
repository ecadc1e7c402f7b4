r"""Product of experts: the residual ensemble of a debiased model p and a biased model b (Clark et al. 2019).

.. math::
    \text{multi-class:}\quad & softmax(\log p + \log b) \\
    \text{1-vs-rest:}\quad & \frac{p_c b_c}{p_c b_c + (1 - p_c)(1 - b_c)} = \sigma(z_c + w_c)

with p = softmax(z) and b = softmax(w), or p_c = σ(z_c) and b_c = σ(w_c). The ensemble is fitted to the labels with b
fixed, so p learns what b does not explain; p alone predicts. The MASKER paper lists the method under "Baselines".

Deviation: Clark et al. treat softmax outputs only. For C independent sigmoids we take the product of experts class by
class: a product of two Bernoulli distributions, which adds their logits.
"""

from __future__ import annotations

import torch

from masker.config import SIGMOID_HEADS, Head


def product_of_experts(doc_logits: torch.Tensor, bias_logits: torch.Tensor, head: Head) -> torch.Tensor:
    """Logits of the ensemble, for :func:`masker.losses.document_loss.classification_loss`.

    From the (B, C) outputs z of the debiased model and w of the biased one, which receive no gradient: normalised
    log-probabilities for ``multi-class``, log-odds for ``one-vs-rest``.
    """
    logits, bias = doc_logits.float(), bias_logits.detach().float()
    if head in SIGMOID_HEADS:
        return logits + bias
    return (logits.log_softmax(dim=1) + bias.log_softmax(dim=1)).log_softmax(dim=1)
