"""Random keywords: the control of the paper's ablations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masker.keywords.scheme import Evidence, KeywordScheme


def random_scores(counts: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.float64]:
    """Scores whose top K are K tokens drawn at random from the corpus, without replacement.

    A token is drawn with a probability proportional to its number of occurrences, as when random *words of the text*
    are masked in masked language modelling. (Uniform draws over the vocabulary would almost never meet a document.)
    The Gumbel-max trick turns the draw into a ranking: the K largest of log n_t + Gumbel noise are such a sample.

    Args:
        counts: (V,) or (C, V) occurrences.
        seed: The draw is a function of it.

    Returns:
        (V,) scores; −inf for tokens that occur nowhere.
    """
    occurrences = counts.sum(axis=0) if counts.ndim == 2 else counts
    noise = np.random.default_rng(seed).gumbel(size=occurrences.shape)
    return np.where(occurrences > 0, np.log(np.maximum(occurrences, 1)) + noise, -np.inf)


class RandomScheme(KeywordScheme):
    """Tokens of the text, drawn at random; reconstructed over the whole vocabulary, as in the paper."""

    name = "random"
    by_class = False
    whole_vocabulary = True

    def class_scores(self, evidence: Evidence) -> npt.NDArray[np.float64]:
        return self.scores(evidence)[None]

    def scores(self, evidence: Evidence) -> npt.NDArray[np.float64]:
        return random_scores(evidence.counts, evidence.seed)


RANDOM = RandomScheme()
