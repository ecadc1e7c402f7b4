"""Stand-ins for out-of-distribution text, made from held-out documents of the known classes.

They are the views that MASKER trains with: a document whose context is masked, or one reduced to its keywords, belongs
to no class, however many words of a class it has. The context is always replaced by mask tokens, even if training drops
it: the head was trained to be unsure about the view it saw, which would flatter the scores of logits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from masker.config import MaskingSettings
from masker.documents.encoding import Encoded
from masker.keywords import KeywordSet
from masker.masking.draws import document_draws
from masker.masking.keywords_only import keywords_only
from masker.masking.views import mask_context
from masker.modeling.tokens import special_ids_of


def stand_in_documents(
    encoded: Encoded, keywords: KeywordSet | None, tokenizer: Any, masking: MaskingSettings, seed: int
) -> dict[str, Encoded]:
    """Make the stand-ins, by name. Without keywords every word is context, and there is no keywords-only view."""
    special = sorted(special_ids_of(tokenizer))
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
