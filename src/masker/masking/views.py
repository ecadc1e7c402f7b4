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


def drop_tokens(rows: dict[str, Ids], dropped: Flags, attention_mask: Ids) -> dict[str, Ids]:
    """The other reading of x^ = x − c^: the tokens of c^ are left out and the rest moves together.

    The paper says of the context words both that they are "masked" and that they are "dropped". Without them a row is
    about a tenth as long.

    Args:
        rows: (B, T) arrays to shorten alike, such as token ids and token types.
        dropped: (B, T) flags of c^.
        attention_mask: (B, T) 0 at padding, which is left out as well.

    Returns:
        The same arrays and ``attention_mask``, (B, S) with S the length of the longest row that is left; where a row is
        shorter, its padding holds whatever stood in places left out and is masked.
    """
    kept = attention_mask.astype(bool) & ~dropped
    lengths = kept.sum(axis=1)
    # A stable sort by "left out" moves what is kept to the front, in its old order.
    order = np.argsort(~kept, axis=1, kind="stable")[:, : int(lengths.max())]
    short = {name: np.take_along_axis(values, order, axis=1) for name, values in rows.items()}
    short["attention_mask"] = (np.arange(order.shape[1]) < lengths[:, None]).astype(np.int64)
    return short
