"""How often the keywords of one class occur in texts of another: the numbers of the paper's heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt


def keyword_rates(
    counts: npt.NDArray[np.int64], targets: Sequence[str], keywords: Mapping[str, Sequence[int]]
) -> dict[str, dict[str, float]]:
    """The percentage of a class's tokens (or words) that are keywords of each class.

    From the (T, V) occurrences of each token in the texts of the T classes ``targets``, and the token ids of each
    class's keywords. Returns class of the keywords -> class of the texts -> percent.
    """
    return {
        source: {
            target: round(100.0 * float(row[list(chosen)].sum() / max(1, row.sum())), 4)
            for target, row in zip(targets, counts, strict=True)
        }
        for source, chosen in keywords.items()
    }
