"""The array types of this package."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
#: Arrays by name, as ``masker.safetensors`` stores them.
Arrays = dict[str, npt.NDArray[Any]]
