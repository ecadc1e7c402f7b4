"""The two views of a document: x~ (keywords masked) and x^ (context masked).

Both are element-wise on (B, T) arrays; ``uniform`` holds one draw from [0, 1) for each position, so that the same
draws give the same view on every machine.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def mask_keywords(
    input_ids: Ids, keyword_positions: Flags, uniform: npt.NDArray[np.float64], keyword_mask_prob: float, mask_id: int
) -> tuple[Ids, Flags]:
    """x~ = x − k~: each keyword position is replaced by the mask token with probability p, independently.

    Args:
        input_ids: (B, T) the documents x.
        keyword_positions: (B, T) true where a content token belongs to a keyword (the paper's k).
        uniform: (B, T) draws.
        keyword_mask_prob: p.
        mask_id: Vocabulary id of the mask token.

    Returns:
        ``keyword_masked_ids`` (B, T) and the (B, T) flags of index(k~), the positions masked.
    """
    masked = keyword_positions & (uniform < keyword_mask_prob)
    return np.where(masked, mask_id, input_ids), masked


def mask_context(
    input_ids: Ids,
    keyword_positions: Flags,
    content: Flags,
    uniform: npt.NDArray[np.float64],
    context_mask_prob: float,
    mask_id: int,
) -> tuple[Ids, Flags]:
    """x^ = x − c^: each context position (content that is no keyword) is masked with probability q, independently.

    Args:
        input_ids: (B, T) the documents x.
        keyword_positions: (B, T) true where a content token belongs to a keyword.
        content: (B, T) false at special and padding tokens, which are never masked.
        uniform: (B, T) draws.
        context_mask_prob: q.
        mask_id: Vocabulary id of the mask token.

    Returns:
        ``context_masked_ids`` (B, T) and the (B, T) flags of c^.
    """
    masked = content & ~keyword_positions & (uniform < context_mask_prob)
    return np.where(masked, mask_id, input_ids), masked
