"""Random keywords: the control in the paper's ablations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masker.keywords.scheme import Evidence, KeywordScheme


def random_scores(counts: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.float64]:
    """Scores whose top K are K tokens drawn at random from the corpus, without replacement.

    The probability of a token is proportional to its number of occurrences, as when masked language modelling masks
    random *words of the text*. (Tokens drawn uniformly from the vocabulary would hardly occur in any document.)
    The Gumbel-max trick turns the draw into a ranking: the K largest values of log n_t + Gumbel noise are the sample.
    ``counts`` are (V,) or (C, V), the scores (V,), −inf for tokens absent from the corpus.
    """
    occurrences = counts.sum(axis=0) if counts.ndim == 2 else counts
    noise = np.random.default_rng(seed).gumbel(size=occurrences.shape)
    return np.where(occurrences > 0, np.log(np.maximum(occurrences, 1)) + noise, -np.inf)


class RandomScheme(KeywordScheme):
    """Tokens drawn at random from the corpus; reconstructed over the whole vocabulary, as in the paper."""

    name = "random"
    by_class = False
    whole_vocabulary = True

    def class_scores(self, evidence: Evidence) -> npt.NDArray[np.float64]:
        return random_scores(evidence.counts, evidence.seed)[None]
