"""Documents as points in the plane, by t-SNE (van der Maaten and Hinton 2008; openTSNE)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from masker.extras import require

Points = npt.NDArray[np.float64]

#: Dimensions that t-SNE reads: more carry noise and cost time.
DIMENSIONS = 50
PERPLEXITY = 30.0


def place_in_plane(features: Any, *, perplexity: float = PERPLEXITY, seed: int = 0) -> Points:
    """(N, 2) places of (N, H) features, dense or sparse: neighbours stay neighbours, distances mean nothing else.

    Fewer than four documents, and documents that are all alike, have no neighbours to tell apart: they are put in a
    row.

    Raises:
        MissingPackageError: When openTSNE is not installed.
    """
    TSNE = require("t-SNE", "openTSNE").TSNE  # noqa: N806 - its name
    count = features.shape[0]
    if count < 4 or _are_alike(features):
        return np.column_stack([np.arange(count, dtype=np.float64), np.zeros(count)])
    reduced = _principal_components(features, seed)
    fitting = min(perplexity, (len(reduced) - 1) / 3)
    # The method for few points; openTSNE's interpolation pays off from about ten thousand.
    tsne = TSNE(
        perplexity=fitting,
        initialization="pca",
        neighbors="exact",
        negative_gradient_method="bh",
        random_state=seed,
        n_jobs=1,
    )
    return np.asarray(tsne.fit(reduced), dtype=np.float64)


def _are_alike(features: Any) -> bool:
    if hasattr(features, "toarray"):
        return all((features[[row]] != features[[0]]).nnz == 0 for row in range(1, features.shape[0]))
    return bool((features == features[0]).all())


def _principal_components(features: Any, seed: int) -> Points:
    from sklearn.decomposition import TruncatedSVD

    size = min(DIMENSIONS, *(side - 1 for side in features.shape))
    if not hasattr(features, "toarray"):
        features = np.asarray(features, dtype=np.float64)
        features = features - features.mean(axis=0)
        if features.shape[1] <= DIMENSIONS:
            return np.asarray(features)
    return np.asarray(TruncatedSVD(max(1, size), random_state=seed).fit_transform(features))


def silhouette(features: Any, groups: npt.NDArray[np.int64]) -> float:
    """How far groups of (N, H) features are apart: near 1 they are separated, near 0 they overlap.

    A t-SNE plot can mislead; this is measured before anything is projected. 0 where there is one group, or each
    document is one.
    """
    from sklearn.metrics import silhouette_score

    if not 1 < len(np.unique(groups)) < len(groups):
        return 0.0
    return round(float(silhouette_score(features, groups)), 4)
