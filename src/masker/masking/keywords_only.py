"""Documents reduced to their keywords: x^ with all context dropped, the input of a biased model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from masker.documents.encoding import Encoded
from masker.keywords import KeywordSet


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
