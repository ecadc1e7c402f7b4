"""The collator: documents in, one padded batch with all views out.

The rows of a batch are the B documents, then the keyword-masked views of the documents that have a masked keyword, then
the context-masked views. One forward pass serves them all; ``document_of_row`` gives the document of each row. If
context words are dropped rather than masked, those views are so much shorter that they form a batch of their own,
``context_input_ids`` and so on, unless there are so few that a second forward pass would cost more than their padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from masker.documents.encoding import pad_rows
from masker.keywords import KeywordSet
from masker.masking.draws import document_draws
from masker.masking.views import Flags, Ids, drop_tokens, mask_context, mask_keywords

#: Rows without context that have at most this many tokens when padded join the other rows.
JOINED_TOKENS = 256


@dataclass(frozen=True)
class Views:
    """Which views a method needs, and how they are drawn."""

    keywords: KeywordSet
    mask_id: int
    keyword_mask_prob: float
    context_mask_prob: float
    seed: int
    keyword_view: bool
    context_view: bool
    context: Literal["mask", "drop"] = "mask"
    share: float = 1.0  # of the documents that have views in this batch, drawn anew each epoch
    #: Of a document's tokens that are its keywords, drawn anew each epoch and all masked; ``None`` takes ``keywords``.
    random_share: float | None = None


class Collator:
    """Pads encoded documents to the longest of the batch and, in training, adds their masked views.

    ``special_ids`` are not content. ``bias_logits`` are the (N, C) outputs of a biased model for all documents; a batch
    gets those of its own.
    """

    def __init__(
        self,
        pad_id: int,
        special_ids: Sequence[int],
        views: Views | None = None,
        bias_logits: npt.NDArray[np.float32] | None = None,
    ) -> None:
        self.pad_id = pad_id
        self.special_ids = np.array(sorted(special_ids), dtype=np.int64)
        self.views = views
        self.bias_logits = bias_logits
        self.epoch = 0

    def __call__(self, features: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """The tensors of one batch from rows of :class:`masker.documents.encoding.Encoded`."""
        input_ids, attention_mask = pad_rows([feature["input_ids"] for feature in features], self.pad_id)
        batch = {"input_ids": input_ids, "attention_mask": attention_mask}
        if features[0].get("token_type_ids") is not None:
            batch["token_type_ids"] = pad_rows([feature["token_type_ids"] for feature in features], 0)[0]
        extra: dict[str, npt.NDArray[Any]] = {}
        if self.views is not None:
            rows = np.array([feature["row"] for feature in features], dtype=np.int64)
            batch, extra = self._with_views(self.views, batch, rows)
        if self.bias_logits is not None:
            extra["bias_logits"] = self.bias_logits[[feature["row"] for feature in features]]
        if features[0].get("label") is not None:
            labels = np.array([feature["label"] for feature in features])
            extra["labels"] = labels.astype(np.float32) if labels.dtype.kind == "f" else labels
        return {name: torch.from_numpy(array) for name, array in {**batch, **extra}.items()}

    def content(self, input_ids: Ids) -> Flags:
        """(…, T) true at content tokens, false at special and padding tokens."""
        return ~np.isin(input_ids, self.special_ids)

    def _with_views(
        self, views: Views, batch: dict[str, Ids], rows: Ids
    ) -> tuple[dict[str, Ids], dict[str, npt.NDArray[Any]]]:
        input_ids = batch["input_ids"]
        n_documents, width = input_ids.shape
        content = self.content(input_ids) & batch["attention_mask"].astype(bool)
        keyword_draws, context_draws = document_draws(views.seed, self.epoch, rows, width)
        keyword_positions, masked_share = views.keywords.find(input_ids) & content, views.keyword_mask_prob
        if views.random_share is not None:
            keyword_positions, masked_share = content & (keyword_draws < views.random_share), 1.0
        # The first token is special and never masked, so its draw is free.
        viewed = np.flatnonzero(context_draws[:, 0] < views.share)
        ids = [input_ids]
        document_of_row = [np.arange(n_documents)]
        extra: dict[str, npt.NDArray[Any]] = {}
        n_keyword_rows = 0
        if views.keyword_view:
            masked_ids, masked = mask_keywords(input_ids, keyword_positions, keyword_draws, masked_share, views.mask_id)
            # A document without a masked keyword has x~ = x and contributes 0: its row would be wasted.
            owners = viewed[masked[viewed].any(axis=1)]
            n_keyword_rows = len(owners)
            ids.append(masked_ids[owners])
            document_of_row.append(owners)
            extra |= _masked_keywords(views, input_ids, masked, owners)
        if views.context_view:
            masked_ids, masked = mask_context(
                input_ids, keyword_positions, content, context_draws, views.context_mask_prob, views.mask_id
            )
            if views.context == "mask":
                ids.append(masked_ids[viewed])
                document_of_row.append(viewed)
            elif len(viewed):
                extra |= self._dropped_context({name: values[viewed] for name, values in batch.items()}, masked[viewed])
            extra["context_documents"] = viewed
        owner = np.concatenate(document_of_row)
        stacked = {name: values[owner] for name, values in batch.items() if name != "input_ids"}
        stacked["input_ids"] = np.concatenate(ids)
        if "context_input_ids" in extra and len(viewed) <= n_documents // 2 and len(viewed) * width <= JOINED_TOKENS:
            owner = np.concatenate([owner, viewed])
            stacked = self._with_context_rows(stacked, extra)
        extra["document_of_row"] = owner
        # 0: the document itself, 1: keyword-masked view, 2: context-masked view.
        extra["view_of_row"] = np.repeat(
            np.arange(3), [n_documents, n_keyword_rows, len(owner) - n_documents - n_keyword_rows]
        )
        return stacked, extra

    def _with_context_rows(self, stacked: dict[str, Ids], extra: dict[str, npt.NDArray[Any]]) -> dict[str, Ids]:
        """The rows, and below them, widened, those of the dropped context, which are taken out of ``extra``."""

        def widened(name: str, rows: Ids, width: int) -> Ids:
            filler = self.pad_id if name == "input_ids" else 0
            return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=filler)

        return {
            name: np.concatenate([values, widened(name, extra.pop(f"context_{name}"), values.shape[1])])
            for name, values in stacked.items()
        }

    def _dropped_context(self, batch: dict[str, Ids], dropped: Flags) -> dict[str, Ids]:
        rows = {name: values for name, values in batch.items() if name != "attention_mask"}
        short = drop_tokens(rows, dropped, batch["attention_mask"])
        inside = short["attention_mask"].astype(bool)
        # RoBERTa derives position ids from the padding id, so padding must hold it.
        short["input_ids"] = np.where(inside, short["input_ids"], self.pad_id)
        return {f"context_{name}": values for name, values in short.items()}


def _masked_keywords(views: Views, input_ids: Ids, masked: Flags, owners: Ids) -> dict[str, Ids]:
    """Where the keyword-masked rows, which come after the documents, are masked, and the keywords that were there."""
    view_row, column = np.nonzero(masked[owners])
    return {
        "masked_rows": view_row + len(input_ids),
        "masked_columns": column,
        "keyword_labels": views.keywords.target_index[input_ids[owners][view_row, column]],
    }
