"""Corpora that take the place of one that no registry has: which, without which classes, and why.

A scale names the corpora that it replaces; ``masker reproduce --stand-ins`` replaces all of these, at any scale.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class StandIn(BaseModel):
    """The corpus that replaces one that is not available."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    corpus: str
    without_labels: list[str] = Field(default_factory=list)
    reason: str


STAND_INS = {
    "amazon50": StandIn(
        corpus="amazon24",
        # amazon50 has electronics only; these classes of amazon24 resemble the foreign corpora.
        without_labels=["Grocery_and_Gourmet_Food", "Movies_and_TV", "Amazon_Instant_Video"],
        reason="the 50-class corpus is published on a file host only; 24 coarser product categories take its place",
    ),
}
