"""Random draws that depend only on (seed, epoch, document).

A counter-based generator (Philox) gives each document of each epoch its own stream. Masks are new in every epoch, yet
independent of the batch a document falls into, of the number of workers or processes, and of interruptions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def document_draws(
    seed: int, epoch: int, rows: npt.NDArray[np.int64], width: int, streams: int = 2
) -> npt.NDArray[np.float64]:
    """(streams, B, T) uniform draws from [0, 1) for the (B,) documents ``rows`` of the training set.

    T is ``width``; a larger width extends a document's draws and changes none.
    """
    draws = np.empty((streams, len(rows), width))
    for place, row in enumerate(rows):
        for stream in range(streams):
            bits = np.random.Philox(key=seed, counter=[0, stream, epoch, int(row)])
            draws[stream, place] = np.random.Generator(bits).random(width)
    return draws
