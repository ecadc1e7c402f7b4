"""Two scores as a package of its own would write them, one of each sort, with nothing but what the docs name."""

import numpy as np

from masker.detection.score import LearntScore, Score


class EuclideanScore(Score):
    """Squared distance to the nearest class mean."""

    name, features = "euclidean", ("cls",)

    def __init__(self, means):
        self._means = means

    @classmethod
    def build(cls, statistics, settings):
        return cls(statistics.moments[cls.features[0]].known_means)

    def ood_score(self, outputs):
        rows = outputs.features[self.features[0]]
        return np.square(rows[:, None] - self._means).sum(axis=2).min(axis=1)


class EuclideanMiddleScore(EuclideanScore):
    """The same distance in other features."""

    name, features = "euclidean-middle", ("middle",)


class MarginScore(LearntScore):
    """How far the margin between the two best logits falls short of its median on training documents."""

    name = "margin"

    def __init__(self, median):
        self._median = median

    @staticmethod
    def margin(logits):
        ordered = np.sort(logits.astype(np.float64), axis=1)
        return ordered[:, -1] - ordered[:, -2]

    @classmethod
    def fit(cls, outputs, labels, settings):
        assert len(labels) == len(outputs.logits)
        return cls(np.median(cls.margin(outputs.logits)))

    def state(self):
        return {"median": np.array(self._median)}

    @classmethod
    def from_state(cls, state, settings):
        return cls(float(state["median"]))

    def ood_score(self, outputs):
        return self._median - self.margin(outputs.logits)
