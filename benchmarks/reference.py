"""The slow path: what the published research code does, step by step, written anew for comparison.

Rows padded to 512, batches of 8, float32, one forward pass for each of the three views, the token head at every
position, masks and attention scores by Python loops over tokens.
"""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import torch
from torch.nn import functional

WIDTH = 512
BATCH = 8


def pad_rows(rows: list[list[int]], pad_id: int) -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.full((len(rows), WIDTH), pad_id)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row)
    return ids, (ids != pad_id).long()


class SlowMasker:
    """One optimiser step of MASKER for each call, on batches of 8 documents."""

    def __init__(self, setting: Any, network: Any) -> None:
        self.network = network.train()
        self.setting = setting
        tokenizer = setting.backbone.tokenizer
        self.pad_id, self.mask_id = tokenizer.pad_token_id, tokenizer.mask_token_id
        self.special = set(setting.special)
        self.index = {int(token): place for place, token in enumerate(setting.keywords.target_ids)}
        self.optimizer = torch.optim.Adam(network.parameters(), lr=5e-5)
        self.at = 0

    def views(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        keyword_masked, context_masked = ids.clone(), ids.clone()
        labels = torch.full_like(ids, -100)
        for row in range(ids.shape[0]):
            for column in range(ids.shape[1]):
                token = ids[row, column].item()
                if token == self.pad_id:
                    break
                if token in self.special:
                    continue
                if token in self.index:
                    if random.random() < 0.5:
                        keyword_masked[row, column] = self.mask_id
                        labels[row, column] = self.index[token]
                elif random.random() < 0.9:
                    context_masked[row, column] = self.mask_id
        return keyword_masked, context_masked, labels

    def step(self) -> float:
        encoded = self.setting.encoded
        rows = [(self.at + offset) % len(encoded) for offset in range(BATCH)]
        self.at += BATCH
        ids, mask = pad_rows([encoded.input_ids[row].tolist() for row in rows], self.pad_id)
        labels = torch.tensor([int(encoded.labels[row]) for row in rows])
        keyword_masked, context_masked, targets = self.views(ids)
        classifier, head = self.network.classifier, self.network.token_head
        logits = classifier(input_ids=ids, attention_mask=mask).logits
        one_hot = functional.one_hot(labels, logits.shape[1]).float()
        loss = functional.binary_cross_entropy_with_logits(logits, one_hot)
        hidden = classifier(input_ids=keyword_masked, attention_mask=mask, output_hidden_states=True).hidden_states[-1]
        tokens = head(hidden)
        loss = loss + 1e-3 * functional.cross_entropy(tokens.flatten(0, 1), targets.flatten(), ignore_index=-100)
        context = classifier(input_ids=context_masked, attention_mask=mask).logits.log_softmax(dim=1)
        uniform = torch.full_like(context, 1 / context.shape[1])
        loss = loss + 1e-3 * functional.kl_div(context, uniform, reduction="batchmean")
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return BATCH


def slow_attention_keywords(setting: Any, classifier: Any, count: int) -> float:
    """Attention scores of the first ``count`` documents: full matrices of all layers, then a loop over tokens."""
    scores: dict[int, float] = defaultdict(float)
    special = set(setting.special)
    with torch.no_grad():
        for start in range(0, count, BATCH):
            rows = [setting.encoded.input_ids[row].tolist() for row in range(start, min(start + BATCH, count))]
            ids, mask = pad_rows(rows, setting.backbone.tokenizer.pad_token_id)
            output = classifier(input_ids=ids, attention_mask=mask, output_attentions=True)
            attention = output.attentions[-1].mean(dim=1)[:, 0]
            for row in range(len(rows)):
                norm = attention[row].norm()
                weights: dict[int, list[float]] = defaultdict(list)
                for column in range(WIDTH):
                    token = ids[row, column].item()
                    if token not in special:
                        weights[token].append((attention[row, column] / norm).item())
                for token, values in weights.items():
                    scores[token] += sum(values) / len(values)
    return count
