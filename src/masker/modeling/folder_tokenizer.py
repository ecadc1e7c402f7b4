"""The tokenizer of a model folder, read with the ``tokenizers`` library alone.

transformers wraps the same library. Its classes add what inference does not need, and take longer to import than an
exported network takes to answer. What is here has their names, so that the rest of the code takes either.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from masker.errors import ModelError


class FolderTokenizer:
    """A tokenizer as transformers saves it: ``tokenizer.json``, and the names of its special tokens.

    Attributes:
        backend_tokenizer: The tokenizer itself.
        model_input_names: What it makes. If the file does not say, token types are included; a graph that was exported
            without them does not read them.
        truncation_side: ``right`` or ``left``.
        split_special_tokens: Whether a special token in a text is ordinary text.
        all_special_ids: Ids of the special tokens.

    Raises:
        ModelError: When a file is missing or damaged.
    """

    def __init__(self, folder: str | Path) -> None:
        try:
            self.backend_tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
            config = json.loads((Path(folder) / "tokenizer_config.json").read_text(encoding="utf-8"))
            found = {name: self.backend_tokenizer.token_to_id(token) for name, token in _special_tokens(config).items()}
            self._ids = {name: place for name, place in found.items() if place is not None}
            self.pad_token_id = self._ids["pad_token"]
        except Exception as error:  # the tokenizers library raises nothing more specific
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:160]
            raise ModelError(
                f"the tokenizer in folder '{folder}' cannot be opened ({reason}); is it a complete model folder?"
            ) from None
        names = ["input_ids", "token_type_ids", "attention_mask"]
        self.model_input_names: list[str] = config.get("model_input_names", names)
        self.truncation_side: str = config.get("truncation_side", "right")
        self.split_special_tokens: bool = config.get("split_special_tokens", False)
        self.all_special_ids: list[int] = list(dict.fromkeys(self._ids.values()))

    @property
    def unk_token_id(self) -> int | None:
        """The id of the unknown token."""
        return self._ids.get("unk_token")

    @property
    def mask_token_id(self) -> int | None:
        """The id of the mask token."""
        return self._ids.get("mask_token")

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """How many special tokens a row has."""
        return int(self.backend_tokenizer.num_special_tokens_to_add(pair))


def _special_tokens(config: dict[str, Any]) -> dict[str, str]:
    """The special tokens in ``tokenizer_config.json``, by name; a token is a string, or an object with its content."""
    named = {name: token for name, token in config.items() if name.endswith("_token")}
    extra = config.get("extra_special_tokens") or {}
    named |= extra if isinstance(extra, dict) else {f"extra {number}": token for number, token in enumerate(extra)}
    tokens = {name: token["content"] if isinstance(token, dict) else token for name, token in named.items()}
    return {name: token for name, token in tokens.items() if isinstance(token, str)}
