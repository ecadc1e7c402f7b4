"""Which tokens are content."""

from __future__ import annotations

from typing import Any


def special_ids_of(tokenizer: Any) -> set[int]:
    """Ids of special tokens that are not content. The unknown token stands for a real word, so it is content."""
    return set(tokenizer.all_special_ids) - {tokenizer.unk_token_id} | {tokenizer.pad_token_id}
