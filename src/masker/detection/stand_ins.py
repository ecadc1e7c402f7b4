"""Documents that have to look out-of-distribution, made from held-out documents of the known classes.

The views that MASKER trains with stand in for foreign text: a document whose context is masked, and one that is nothing
but keywords, are no documents of any class, however many words of a class they have. The context is replaced by mask
tokens even where training leaves it out: the head was taught to be unsure of what it was trained with, which would
flatter the scores of logits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from masker.config import MaskingSettings
from masker.documents.encoding import Encoded
from masker.inference.batching import content_special_ids
from masker.keywords import KeywordSet
from masker.masking.draws import document_draws
from masker.masking.keywords_only import keywords_only
from masker.masking.views import mask_context


def stand_in_documents(
    encoded: Encoded, keywords: KeywordSet | None, tokenizer: Any, masking: MaskingSettings, seed: int
) -> dict[str, Encoded]:
    """The stand-ins by name.

    Args:
        encoded: Held-out documents.
        keywords: The keyword set; without one every word is context, and there are no documents of keywords.
        tokenizer: Its mask token is used.
        masking: ``context_mask_prob`` is used.
        seed: Draws what is masked.
    """
    special = sorted(content_special_ids(tokenizer))
    masked = []
    for row, ids in enumerate(encoded.input_ids):
        content = ~np.isin(ids, special)
        kept = np.zeros_like(content) if keywords is None else keywords.find(ids)
        draws = document_draws(seed, 0, np.array([row]), len(ids))[1]
        view, _ = mask_context(
            ids[None], (kept & content)[None], content[None], draws, masking.context_mask_prob, tokenizer.mask_token_id
        )
        masked.append(view[0])
    views = {"context masked": Encoded(masked, encoded.token_type_ids, None, encoded.document)}
    if keywords is not None:
        views["keywords only"] = keywords_only(encoded, keywords, special)
    return views
