"""What was discovered: groups with names, sizes and examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class TextGroup:
    """A group of texts: a candidate for a new class.

    Attributes:
        name: Made of its most distinctive terms.
        terms: Its distinctive terms, best first.
        texts: How many texts belong to it.
        cohesion: Mean cosine between a text and the centre of the group; 1 = all say the same.
        nearest: The known class it is nearest to; ``None`` if the model kept no features of its classes.
        novelty: Its distance from that class; 1 = as far as the halves of the class are from each other.
        is_new: Whether it is farther than that; ``None`` where ``novelty`` is.
        middle: Texts nearest to the centre.
        edge: Texts farthest from it.
    """

    name: str
    terms: list[str]
    texts: int
    cohesion: float
    nearest: Any
    novelty: float | None
    is_new: bool | None
    middle: list[str]
    edge: list[str]


@dataclass(frozen=True)
class Discovery:
    """The groups among the texts that a model rejects.

    Attributes:
        model, data: Where model and texts are from.
        texts: How many texts were read.
        rejected: How many of them the model rejects; all of them, if all were to be grouped.
        grouped: How many of these belong to a group.
        sampled: How many of them the groups were found among; the others went to the nearest group.
        only_rejected: Whether texts that the model accepts were left out.
        groups: The groups, largest first.
    """

    model: str
    data: str
    texts: int
    rejected: int
    grouped: int
    sampled: int
    only_rejected: bool
    groups: Sequence[TextGroup]

    def to_json(self) -> dict[str, Any]:
        """Everything, JSON-ready, with a sentence that sums it up."""
        return {"sentence": discovery_sentence(self), **asdict(self)}


def discovery_sentence(found: Discovery) -> str:
    """What was found, in one sentence."""
    kind = "rejected texts" if found.only_rejected else "texts"
    new = sum(bool(group.is_new) for group in found.groups)
    parts = sum(group.is_new is False for group in found.groups)
    many = "1 group" if len(found.groups) == 1 else f"{len(found.groups)} groups"
    kinds = [f"{new} new" if new else "", f"{parts} near a known class" if parts else ""]
    shown = ", ".join(part for part in kinds if part)
    rest = found.rejected - found.grouped
    noise = f"; {rest:,} belong to none" if rest else ""
    return f"{found.rejected:,} {kind} of {found.texts:,}: {many}{f' ({shown})' if shown else ''}{noise}."
