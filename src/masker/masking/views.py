"""The two views of a document: x~ (keywords masked) and x^ (context masked).

All arrays are (B, T). ``keyword_positions`` is true at content tokens that belong to a keyword (the paper's k),
``content`` false at special and padding tokens, which are never masked. ``uniform`` holds one draw from [0, 1) per
position, so the same draws give the same view on every machine.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def mask_keywords(
    input_ids: Ids, keyword_positions: Flags, uniform: npt.NDArray[np.float64], keyword_mask_prob: float, mask_id: int
) -> tuple[Ids, Flags]:
    """x~ = x − k~: replace each keyword position by the mask token with probability p, independently.

    Returns the ids of x~ and the flags of index(k~), the masked positions.
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
    """x^ = x − c^: mask each context position (content that is not a keyword) with probability q, independently.

    Returns the ids of x^ and the flags of c^.
    """
    masked = content & ~keyword_positions & (uniform < context_mask_prob)
    return np.where(masked, mask_id, input_ids), masked


def drop_tokens(rows: dict[str, Ids], dropped: Flags, attention_mask: Ids) -> dict[str, Ids]:
    """The other reading of x^ = x − c^: drop the tokens of c^ and close the gaps.

    The paper says of the context words both that they are "masked" and that they are "dropped". Dropping them makes a
    row about a tenth as long.

    Returns ``rows`` (such as token ids and token types) without ``dropped`` (c^) and padding, and their
    ``attention_mask``: (B, S), S the length of the longest remaining row. Shorter rows end in arbitrary dropped values,
    which the mask hides.
    """
    kept = attention_mask.astype(bool) & ~dropped
    lengths = kept.sum(axis=1)
    # A stable sort by "dropped" moves the kept tokens to the front without reordering them.
    order = np.argsort(~kept, axis=1, kind="stable")[:, : int(lengths.max())]
    short = {name: np.take_along_axis(values, order, axis=1) for name, values in rows.items()}
    short["attention_mask"] = (np.arange(order.shape[1]) < lengths[:, None]).astype(np.int64)
    return short
