"""Documents reduced to their keywords: x^ with all context dropped, the input of a biased model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from masker.documents.encoding import Encoded
from masker.keywords import KeywordSet


def contain_keywords(encoded: Encoded, keywords: KeywordSet) -> npt.NDArray[np.bool_]:
    """(N,) whether each document, in any of its windows, contains a keyword."""
    found = np.zeros(encoded.n_documents, dtype=bool)
    found[encoded.document[[bool(keywords.find(ids).any()) for ids in encoded.input_ids]]] = True
    return found


def keywords_only(encoded: Encoded, keywords: KeywordSet, special_ids: Sequence[int]) -> Encoded:
    """Keep the keywords and special tokens of each row, in order; a row without keywords becomes an empty text."""
    kept = [keywords.find(ids) | np.isin(ids, np.asarray(special_ids)) for ids in encoded.input_ids]
    types = encoded.token_type_ids
    return Encoded(
        [ids[keep] for ids, keep in zip(encoded.input_ids, kept, strict=True)],
        None if types is None else [row[keep] for row, keep in zip(types, kept, strict=True)],
        encoded.labels,
        encoded.document,
    )
