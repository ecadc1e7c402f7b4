"""Batches of documents of similar length, to keep padding low."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from torch.utils.data import Sampler

#: Documents are shuffled, then sorted by length within blocks of this many batches: still random, with little padding.
BLOCK = 50


class LengthGroupedBatches(Sampler[list[int]]):
    """Random batches of similar length: a function of (seed, epoch) alone, for any number of processes.

    Args:
        lengths: Tokens of each document.
        batch_size: Documents in a batch.
        seed: Seed of the order.
        process: Rank of this process.
        processes: How many processes share each batch. If the last batch has fewer documents than that, some get an
            empty share.
    """

    def __init__(
        self, lengths: npt.NDArray[np.int64], batch_size: int, seed: int, process: int = 0, processes: int = 1
    ) -> None:
        self.lengths = lengths
        self.batch_size = batch_size
        self.seed = seed
        self.process = process
        self.processes = processes
        self.epoch = 0

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
            # The rows of a batch are sorted by length: striding through them gives all processes similar work.
            yield batches[index][self.process :: self.processes]
