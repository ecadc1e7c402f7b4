"""What a backend says of documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Outputs(NamedTuple):
    """What is known of N documents before they are scored.

    Attributes:
        logits: (N, C) outputs of f_doc.
        features: (N, H) dense or sparse, by kind; only the kinds that were asked for.
        lengths: (N,) tokens, where they were counted.
    """

    logits: npt.NDArray[np.float32]
    features: Mapping[str, Any] = {}
    lengths: npt.NDArray[np.int64] | None = None
