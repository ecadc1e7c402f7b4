r"""TF-IDF vectors of documents.

.. math::
    x_t = (1 + \ln n_t) \Bigl(1 + \ln \frac{1 + N}{1 + N_t}\Bigr), \qquad x \leftarrow x / \lVert x \rVert_2

for a token t that occurs n_t > 0 times in the document and in N_t of N training documents: scikit-learn's
``TfidfTransformer(sublinear_tf=True)``. Tokens are those of the backbone's tokenizer, so every system reads the same
part of a document. The document's special tokens count as tokens: no vector is ever zero, and a text of unseen tokens
is far from all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

Floats = npt.NDArray[np.float64]


def token_counts(documents: Sequence[npt.NDArray[np.int64]], vocabulary_size: int) -> Any:
    """(N, V) sparse counts n_t of token ids."""
    lengths = np.array([len(ids) for ids in documents], dtype=np.int64)
    tokens = np.concatenate(documents) if len(documents) else np.empty(0, dtype=np.int64)
    rows = np.repeat(np.arange(len(documents), dtype=np.int32), lengths)
    # scikit-learn takes sparse rows with indices of 32 bits only.
    counts = csr_array((np.ones(len(tokens)), (rows, tokens.astype(np.int32))), shape=(len(documents), vocabulary_size))
    counts.sum_duplicates()
    return counts


def inverse_document_frequency(counts: Any) -> Floats:
    """(V,) factors 1 + ln((1 + N) / (1 + N_t)); tokens of no document get the highest."""
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.asarray(1.0 + np.log((1.0 + counts.shape[0]) / (1.0 + documents)))


def tf_idf(counts: Any, idf: Floats) -> Any:
    """(N, V) sparse vectors of length 1."""
    vectors = csr_array(counts, copy=True)
    vectors.data = (1.0 + np.log(vectors.data)) * idf[vectors.indices]
    row = np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))
    vectors.data /= np.sqrt(np.bincount(row, vectors.data**2))[row]
    return vectors
