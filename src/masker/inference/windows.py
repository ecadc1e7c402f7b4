"""One output for each document, whatever the number of its windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masker.documents.encoding import Encoded
from masker.inference.backend import Backend
from masker.inference.batching import Advance
from masker.inference.outputs import Outputs

#: Documents whose features are in memory at a time while statistics are gathered.
STREAM_DOCUMENTS = 2048


def document_outputs(
    backend: Backend, encoded: Encoded, pooling: str, advance: Advance | None = None, *, kinds: Sequence[str] = ()
) -> Outputs:
    """Run a backend over rows and pool the windows of each document.

    Args:
        backend: The network.
        encoded: Rows; a long document may have several.
        pooling: How the logits of windows are pooled, ``mean`` or ``max``.
        advance: Called with the number of rows done.
        kinds: Which features to compute; those of windows are averaged.
    """
    if kinds:
        outputs = pool_outputs(backend.predict_outputs(encoded, kinds, advance), encoded.document, pooling)
    else:
        outputs = pool_outputs(Outputs(backend.predict_logits(encoded, advance)), encoded.document, pooling)
    lengths = np.bincount(encoded.document, weights=encoded.lengths, minlength=len(outputs.logits))
    return outputs._replace(lengths=lengths.astype(np.int64))


def stream_outputs(
    backend: Backend, encoded: Encoded, pooling: str, advance: Advance | None = None, *, kinds: Sequence[str] = ()
) -> Iterator[Outputs]:
    """:func:`document_outputs` for :data:`STREAM_DOCUMENTS` documents at a time, so that memory stays bounded."""
    for start in range(0, encoded.n_documents, STREAM_DOCUMENTS):
        first, end = np.searchsorted(encoded.document, [start, start + STREAM_DOCUMENTS])
        types = encoded.token_type_ids
        part = Encoded(
            encoded.input_ids[first:end],
            None if types is None else types[first:end],
            None,
            encoded.document[first:end] - start,
        )
        yield document_outputs(backend, part, pooling, advance, kinds=kinds)


def pool_outputs(outputs: Outputs, document: npt.NDArray[np.int64], pooling: str) -> Outputs:
    """Pool the windows of each document; ``document`` (W,) is the document of each row, ascending."""
    n_documents = int(document[-1]) + 1 if len(document) else 0
    if n_documents == len(document):
        return outputs
    logits = pool_windows(outputs.logits, document, n_documents, pooling)
    if not outputs.features:
        return Outputs(logits)
    shares = 1.0 / np.bincount(document)[document]
    places = document.astype(np.int32), np.arange(len(document), dtype=np.int32)
    mean = csr_array((shares, places), shape=(n_documents, len(document)))
    return Outputs(logits, {kind: mean @ values for kind, values in outputs.features.items()})


def pool_windows(
    logits: npt.NDArray[np.float32], document: npt.NDArray[np.int64], n_documents: int, pooling: str
) -> npt.NDArray[np.float32]:
    """(N, C) logits of documents from the (W, C) logits of their windows, by ``mean`` or ``max``."""
    if pooling == "max":
        pooled = np.full((n_documents, logits.shape[1]), -np.inf, dtype=np.float32)
        np.maximum.at(pooled, document, logits)
        return pooled
    total = np.zeros((n_documents, logits.shape[1]), dtype=np.float64)
    np.add.at(total, document, logits)
    counts = np.bincount(document, minlength=n_documents)[:, None]
    return np.asarray(total / counts, dtype=np.float32)


def document_labels(encoded: Encoded) -> npt.NDArray[np.int64]:
    """(N,) class of each document, or (N, C) flags of its labels."""
    assert encoded.labels is not None
    _, first = np.unique(encoded.document, return_index=True)
    return np.asarray(encoded.labels[first], dtype=np.int64)


def single_labels(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """(N,) one class for each document: of several labels the rarest, and one more class, C, for those without.

    Rare labels say more about a document than those that many have, and would otherwise have no document.
    """
    if labels.ndim == 1:
        return labels
    documents = len(labels)
    rarity = np.where(labels > 0, labels.sum(axis=0), documents + 2)  # (N, C)
    rarity = np.column_stack([rarity, np.full(documents, documents + 1)])
    return np.asarray(rarity.argmin(axis=1), dtype=np.int64)
