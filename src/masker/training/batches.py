"""Batches of documents of similar length, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from torch.utils.data import Sampler

#: Documents are shuffled, then sorted by length within blocks of this many batches: random enough, little padding.
BLOCK = 50


class LengthGroupedBatches(Sampler[list[int]]):
    """Random batches of similar length; a function of (seed, epoch) alone.

    Args:
        lengths: Tokens of each document.
        batch_size: Documents in a batch.
        seed: Seed of the order.
    """

    def __init__(self, lengths: npt.NDArray[np.int64], batch_size: int, seed: int) -> None:
        self.lengths = lengths
        self.batch_size = batch_size
        self.seed = seed
        self.epoch = 0
        self.drop_last = False  # read by accelerate when it shards batches over processes

    def __len__(self) -> int:
        return -(-len(self.lengths) // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        random = np.random.default_rng((self.seed, self.epoch))
        order = random.permutation(len(self.lengths))
        block = BLOCK * self.batch_size
        batches: list[list[int]] = []
        for start in range(0, len(order), block):
            rows = order[start : start + block]
            rows = rows[np.argsort(-self.lengths[rows], kind="stable")]
            batches += [rows[at : at + self.batch_size].tolist() for at in range(0, len(rows), self.batch_size)]
        for index in random.permutation(len(batches)):
            yield batches[index]
