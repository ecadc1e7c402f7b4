"""From a score to a decision: reject what scores above a quantile of in-distribution scores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def quantile_threshold(id_scores: npt.NDArray[np.floating], false_alarm_rate: float) -> float:
    """A score that at most a share ``false_alarm_rate`` of ``id_scores`` exceeds: their upper empirical quantile.

    A document is out-of-distribution when its score is *greater* than the threshold. A quantile of held-out scores:
    right on average, with an error that shrinks with the number of held-out documents.
    """
    return float(np.quantile(id_scores, 1.0 - false_alarm_rate, method="higher"))
