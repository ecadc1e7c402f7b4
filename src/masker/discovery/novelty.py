r"""Is a group new, or a part of a known class that the model misses?

.. math::
    \nu(g) = \frac{\lVert m_g - m_c \rVert}{\lVert m_{c1} - m_{c2} \rVert}, \qquad
    c = \arg\max_{c'} \cos(m_g, m_{c'})

:math:`m_g` and :math:`m_c` are the means of the group and of the nearest known class, :math:`m_{c1}` and
:math:`m_{c2}` those of the two halves that 2-means makes of the class's own texts. At 1 the group is as far from the
class as the halves of the class are from each other; a group beyond that is new. The nearest class is chosen by
direction: the mean of a wide class lies near the middle of all classes, and so near to everything. Known texts are
those of the bank (:mod:`masker.detection.statistics`). This measure is our own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masker.detection.statistics import Statistics
from masker.discovery.text_space import TextSpace, Vectors
from masker.evidence.finding import cosines

Floats = npt.NDArray[np.float64]

#: A group beyond this is new.
NEW_BEYOND = 1.0
#: With fewer texts a class has no halves to compare.
LEAST_TEXTS_TO_HALVE = 4


@dataclass(frozen=True)
class KnownClasses:
    """The known classes that have texts in the bank."""

    places: npt.NDArray[np.int64]  # (C',) their numbers among the classes of the model
    means: Floats  # (C', H)
    widths: Floats  # (C',) distances between the halves of each

    @classmethod
    def of(cls, statistics: Statistics, space: TextSpace, seed: int = 0) -> KnownClasses:
        """The classes of a model's statistics, in the space of its texts.

        Texts of a bank that have none of several labels are of no class (:mod:`masker.detection.basis_learner`).
        """
        vectors = space.telling_part(space.join({kind: statistics.bank[kind] for kind in space.kinds}))
        places = np.unique(statistics.bank_labels)
        places = places[places < statistics.bank_logits.shape[1]]
        members = [vectors[statistics.bank_labels == place] for place in places]
        widths = np.array([halves_apart(rows, seed) for rows in members])
        usual = float(np.nanmedian(widths)) if np.isfinite(widths).any() else 1.0
        means = np.array([rows.mean(axis=0) for rows in members], dtype=np.float64)
        return cls(places, means, np.where(np.isfinite(widths) & (widths > 0), widths, usual))

    def nearest(self, mean: Floats) -> tuple[int, float]:
        """The class nearest to the (H,) mean of a group, and ν."""
        best = int(cosines(mean, self.means).argmax())
        return int(self.places[best]), float(np.linalg.norm(self.means[best] - mean) / self.widths[best])


def halves_apart(vectors: Vectors, seed: int = 0) -> float:
    """The distance between the means of the two halves of (N, H) vectors; NaN if they are too few."""
    if len(np.unique(vectors, axis=0)) < LEAST_TEXTS_TO_HALVE:
        return float("nan")
    from sklearn.cluster import KMeans

    means = KMeans(2, n_init=5, random_state=seed).fit(vectors).cluster_centers_
    return float(np.linalg.norm(means[0] - means[1]))
