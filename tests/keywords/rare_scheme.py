"""A keyword scheme as a plug-in brings it: importing this module registers it."""

import numpy as np

from masker.keywords.schemes import Evidence, KeywordScheme
from masker.registry import KEYWORD_SCHEMES


class RareScheme(KeywordScheme):
    """The rarest tokens of each class, −n."""

    name = "rare"
    whole_vocabulary = True

    def class_scores(self, evidence: Evidence) -> np.ndarray:
        return np.where(evidence.counts > 0, -evidence.counts.astype(float), -np.inf)


KEYWORD_SCHEMES.add("rare", RareScheme())
