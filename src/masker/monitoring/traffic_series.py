"""The course of the traffic for a plot: blocks of texts, few enough to draw however long it runs."""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import asdict, dataclass
from typing import Any

#: Blocks of the whole course, at most twice this; and blocks kept at the finest step.
_BLOCKS, _RECENT = 100, 60


@dataclass
class Block:
    """Consecutive texts."""

    start: int  # number of its first text
    time: Any  # of its first text, as it was given; None without times
    texts: int = 0
    strange: int = 0
    evidence: float = 0.0  # the highest log10 of the martingale in it

    def add(self, other: Block) -> None:
        """Append the block that follows."""
        self.texts += other.texts
        self.strange += other.strange
        self.evidence = max(self.evidence, other.evidence)


class TrafficSeries:
    """Blocks of ``step`` texts. When they are too many, neighbours are joined, so that their size doubles."""

    def __init__(self, step: int) -> None:
        self.step = step
        self._whole: list[Block] = []
        self._size = step
        self._recent: deque[Block] = deque(maxlen=_RECENT)

    def add(self, block: Block) -> None:
        """Append texts that do not cross a multiple of the step."""
        for blocks, size in ((self._recent, self.step), (self._whole, self._size)):
            if blocks and blocks[-1].texts < size:
                blocks[-1].add(block)
            else:
                blocks.append(Block(**asdict(block)))
        if len(self._whole) > 2 * _BLOCKS:
            joined = []
            for first, second in itertools.zip_longest(self._whole[::2], self._whole[1::2]):
                if second is not None:
                    first.add(second)
                joined.append(first)
            self._whole, self._size = joined, 2 * self._size

    def time_of(self, position: int) -> Any:
        """The time of the last block that starts at or before text number ``position``."""
        starts = [block for block in (*self._whole, *self._recent) if block.start <= position]
        return max(starts, key=lambda block: block.start).time if starts else None

    def whole(self) -> list[dict[str, Any]]:
        """All texts, JSON-ready."""
        return [asdict(block) for block in self._whole]

    def recent(self) -> list[dict[str, Any]]:
        """The last texts at the finest step, JSON-ready."""
        return [asdict(block) for block in self._recent]

    def to_json(self) -> dict[str, Any]:
        """Everything that :meth:`from_json` needs to go on."""
        return {"step": self.step, "size": self._size, "whole": self.whole(), "recent": self.recent()}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> TrafficSeries:
        """The inverse of :meth:`to_json`."""
        series = cls(int(content["step"]))
        series._size = int(content["size"])
        series._whole = [Block(**block) for block in content["whole"]]
        series._recent.extend(Block(**block) for block in content["recent"])
        return series
