"""Cross-fitting: every document is scored by a network that was not trained on it, and none is lost to training.

The documents are dealt into folds. For each fold a network is trained on the others and says what it thinks of the
fold; these out-of-fold outputs choose the score and calibrate the rejection. The model is the mean of the networks'
weights (a "model soup", Wortsman et al. 2022): all start from the same encoder and are trained briefly, so their mean
is a network, too. One trained on everything would find a new document more usual than the networks found their folds,
and the calibration would not fit it.

With many documents some are set aside instead: that costs one training, and they are not missed.
"""

from __future__ import annotations

from typing import Any

import torch

from masker.config import Settings
from masker.errors import ConfigError
from masker.inference.backend import Backend
from masker.inference.linear_backend import LinearBackend
from masker.inference.torch_backend import TorchBackend
from masker.registry import METHODS

#: Folds, and so trainings.
FOLDS = 5
#: ``auto`` cross-fits below this many documents,
CROSS_FIT_BELOW = 2000
#: if they do not have more tokens than this in all: on long documents five trainings take long. Not for labels, whose
#: threshold needs more documents than a rejection's: many labels are rare, and missing few of them is asked for,
FEW_TOKENS = 40_000
#: and below this many in any case: a tenth of them would be too few to calibrate on.
ALWAYS_BELOW = 200


def uses_cross_fitting(settings: Settings, documents: int, tokens: int) -> bool:
    """Whether to cross-fit this many documents with this many tokens in all.

    Raises:
        ConfigError: When cross-fitting is asked for and the method does not allow it.
    """
    wanted = settings.detection.calibration
    method = METHODS.get(settings.training.method)
    able = method.cross_fits and settings.model.head != "regression"
    # Without averaging, a held-out part chooses the best checkpoint; so it does in the vanilla stage of a new head.
    able = able and (settings.averaged_share > 0 or not method.fine_tuned)
    able = able and (settings.starts_from_probe or not method.keywords)
    if wanted == "cross-fit" and not able:
        raise ConfigError(
            f"detection.calibration=cross-fit: not possible for method {settings.training.method} with these "
            "settings, which need documents set aside; use detection.calibration=split"
        )
    if wanted != "auto":
        return wanted == "cross-fit"
    worth_it = tokens <= FEW_TOKENS or settings.model.head == "multi-label"
    return able and (documents < ALWAYS_BELOW or (documents < CROSS_FIT_BELOW and worth_it))


class BackendMean:
    """The running mean of the weights of backends of one kind."""

    def __init__(self) -> None:
        self._count = 0
        self._mean: Any = None

    def add(self, backend: Backend) -> None:
        """Include a trained backend, which may be changed."""
        self._count += 1
        if self._mean is None:
            self._mean = backend
        elif isinstance(self._mean, TorchBackend) and isinstance(backend, TorchBackend):
            with torch.no_grad():
                pairs = zip(self._mean.classifier.parameters(), backend.classifier.parameters(), strict=True)
                for mean, new in pairs:
                    mean.lerp_(new, 1.0 / self._count)
                for name, tensor in self._mean.own_tensors.items():
                    tensor.lerp_(backend.own_tensors[name], 1.0 / self._count)
        elif isinstance(self._mean, LinearBackend) and isinstance(backend, LinearBackend):
            self._mean = self._mean.moved_towards(backend, 1.0 / self._count)
        else:
            raise TypeError(f"weights of {type(backend).__name__} cannot be averaged")

    def result(self) -> Backend:
        """The mean."""
        mean: Backend = self._mean
        return mean
