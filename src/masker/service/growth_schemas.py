"""What goes over the wire on the way from rejected texts to new classes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from masker.labels import is_missing
from masker.service.schemas import Label, text_schema, whole
from masker.service.service_options import ServiceOptions

#: Groups that a request may ask for.
MOST_GROUPS = 100


class DiscoverRequest(BaseModel):
    """Texts to group; :func:`discover_schema` describes it to callers."""

    model_config = ConfigDict(extra="forbid", strict=True)

    texts: list[str | tuple[str, str]]
    max_groups: Annotated[int, Field(ge=1, le=MOST_GROUPS), BeforeValidator(whole)] = MOST_GROUPS
    only_rejected: bool = True


class ExtendRequest(BaseModel):
    """Texts and their classes; :func:`extend_schema` describes it to callers."""

    model_config = ConfigDict(extra="forbid", strict=True)

    texts: list[str | tuple[str, str]]
    labels: list[Label]

    @model_validator(mode="after")
    def _a_label_for_each_text(self) -> ExtendRequest:
        if len(self.texts) != len(self.labels) or not self.texts:
            raise ValueError(
                f"'texts' and 'labels' must be equally many, at least one; got {len(self.texts)} and {len(self.labels)}"
            )
        missing = [place for place, label in enumerate(self.labels) if is_missing(label)]
        if missing:
            raise ValueError(f"label number {missing[0] + 1} is empty; name a class")
        return self


class GroupBody(BaseModel):
    """A group of texts: the fields of :class:`masker.discovery.TextGroup`, and which texts belong to it."""

    name: str = Field(description="Suggested by its distinctive words.")
    terms: list[str]
    texts: int
    cohesion: float = Field(description="Mean cosine with the centre of the group; 1 = all say the same.")
    nearest: Label | None = Field(description="The nearest known class.")
    novelty: float | None = Field(description="Distance from that class; above 1 the group is new.")
    is_new: bool | None
    middle: list[str] = Field(description="Typical texts.")
    edge: list[str] = Field(description="The least typical ones.")
    members: list[int] = Field(description="Places among the texts of the request, from 0.")


class DiscoverResponse(BaseModel):
    """The groups, largest first."""

    sentence: str
    texts: int
    rejected: int
    grouped: int
    groups: list[GroupBody]


class ExtendResponse(BaseModel):
    """What was added. The service serves the new model from the next request on."""

    added: dict[str, int] = Field(description="Texts by class.")
    new_classes: list[str]
    classes: int
    accuracy: float | None = Field(description="Share of the new texts that a head made without them labels correctly.")
    kept: float = Field(description="Share of the kept training texts whose answer stays the same.")


def discover_schema(options: ServiceOptions, *, pairs: bool) -> dict[str, Any]:
    """What ``/v1/discover`` accepts, as JSON schema."""
    return _object(
        "DiscoverRequest",
        ["texts"],
        texts=text_schema(options, pairs=pairs),
        max_groups={"type": "integer", "minimum": 1, "maximum": MOST_GROUPS, "default": MOST_GROUPS},
        only_rejected={"type": "boolean", "default": True, "description": "Leave out texts that the model accepts."},
    )


def extend_schema(options: ServiceOptions, *, pairs: bool) -> dict[str, Any]:
    """What ``/v1/extend`` accepts, as JSON schema."""
    label = {"type": ["string", "number", "boolean"], "minLength": 1}
    labels = {"type": "array", "items": label, "minItems": 1, "description": "The class of each text."}
    texts = {**text_schema(options, pairs=pairs), "minItems": 1}
    return _object("ExtendRequest", ["texts", "labels"], texts=texts, labels=labels)


def _object(title: str, required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
