"""``auto``: several scores joined into one, on the scale of surprise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from masker.detection.score import Floats, Score
from masker.detection.surprise import JointSurprise
from masker.inference.outputs import Outputs

AUTO = "auto"


@dataclass(frozen=True)
class Recipe:
    """What ``auto`` is made of.

    Attributes:
        offsets: The members, with the surprise beyond which each counts.
        references: (m,) what each member gave reference documents.
        evidence: Why these, ready for JSON.
    """

    offsets: dict[str, float]
    references: dict[str, Floats]
    evidence: dict[str, Any] = field(default_factory=dict)


class JointScore(Score):
    """A sum of surprises.

    Args:
        members: The scores that the recipe names.
        recipe: Offsets and references.
    """

    name = AUTO

    def __init__(self, members: Sequence[Score], recipe: Recipe) -> None:
        self._members = members
        self._joint = JointSurprise(recipe.references, recipe.offsets)
        self.features = tuple(dict.fromkeys(kind for member in members for kind in member.features))

    def ood_score(self, outputs: Outputs) -> Floats:
        """The sum."""
        return self._joint({member.name: member.ood_score(outputs) for member in self._members})
