"""What goes over the wire. These classes make the OpenAPI description, too."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from masker.documents.texts import Text
from masker.service.service_options import ServiceOptions

Label = str | bool | int | float

#: Classes that a request may ask for.
MOST_CLASSES = 1000


def whole(value: Any) -> Any:
    """2.0 is an integer in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class ClassifyRequest(BaseModel):
    """Texts to classify: either ``text`` (with ``text_pair`` for a model of pairs) or ``texts``.

    :func:`request_schema` describes it to callers.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = ""
    text_pair: str = ""
    texts: list[str | tuple[str, str]] = []
    top_k: Annotated[int, Field(ge=0, le=MOST_CLASSES), BeforeValidator(whole)] = 0
    evidence: bool = False

    @model_validator(mode="after")
    def _one_of_text_and_texts(self) -> ClassifyRequest:
        given = self.model_fields_set
        if ("text" in given) == ("texts" in given):
            raise ValueError(f"give either 'text' or 'texts'; got {'both' if 'text' in given else 'neither'}")
        if "text_pair" in given and "texts" in given:
            raise ValueError("'text_pair' belongs to 'text'; put pairs into 'texts' as [text, text_pair]")
        return self

    def inputs(self) -> list[Text]:
        """The texts as :meth:`masker.Model.predict` takes them."""
        if "texts" in self.model_fields_set:
            return list(self.texts)
        return [(self.text, self.text_pair) if "text_pair" in self.model_fields_set else self.text]


def text_schema(options: ServiceOptions, *, pairs: bool) -> dict[str, Any]:
    """Many texts of one request, as JSON schema: the service's limits, and the kind that its model takes."""
    text = {"type": "string", "maxLength": options.max_characters}
    pair = {"type": "array", "prefixItems": [text, text], "minItems": 2, "maxItems": 2}
    return {
        "type": "array",
        "items": pair if pairs else text,
        "maxItems": options.max_texts,
        "description": "Many [text, text_pair] pairs." if pairs else "Many texts.",
    }


def request_schema(options: ServiceOptions, *, pairs: bool, evidence: bool) -> dict[str, Any]:
    """What this service classifies, as JSON schema."""
    text = {"type": "string", "maxLength": options.max_characters}
    properties: dict[str, Any] = {
        "text": {**text, "description": "One text."},
        "texts": text_schema(options, pairs=pairs),
        "top_k": {
            "type": "integer",
            "minimum": 0,
            "maximum": MOST_CLASSES,
            "default": 0,
            "description": "Add the most probable classes, at most this many.",
        },
        "evidence": {
            "description": "Add the words that carry each answer.",
            "default": False,
            **({"type": "boolean"} if evidence else {"const": False}),
        },
    }
    if pairs:
        properties["text_pair"] = {**text, "description": "The second text of the pair."}
    one = ["text", "text_pair"] if pairs else ["text"]
    return {
        "title": "ClassifyRequest",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "oneOf": [{"required": ["texts"]}, {"required": one}],
    }


def request_example(*, pairs: bool) -> dict[str, Any]:
    """A request that works; the page of the API offers it."""
    texts = [["a man is eating", "somebody eats"]] if pairs else ["where is my parcel", "please send the invoice again"]
    return {"texts": texts, "top_k": 2}


class ClassProbability(BaseModel):
    """One class and its probability."""

    label: Label
    confidence: float


class Answer(BaseModel):
    """The answer for one text: the fields of :class:`masker.Prediction`, and what the request asked for besides."""

    label: Label | None = Field(None, description="Absent if the model gives several.")
    confidence: float | list[float] | None = Field(
        description="Probability of the label, or of each of the labels; null for a regression."
    )
    p_value: float | None = Field(description="About the share of the model's own texts that look as strange.")
    ood_score: float | None = Field(description="Higher = more out-of-distribution.")
    is_ood: bool | None = Field(description="Whether the text belongs to none of the classes.")
    labels: list[Label] = Field([], description="The labels that hold, of a model that gives several; maybe none.")
    none: bool = Field(False, description="Whether no label holds, of a model that gives several.")
    top_k: list[ClassProbability] = Field([], description="The most probable classes, if asked for.")
    evidence: dict[str, Any] = Field({}, description="The words that carry the answer, if asked for.")


class ClassifyResponse(BaseModel):
    """One answer for each text, in the order of the texts."""

    predictions: list[Answer]


class ModelDescription(BaseModel):
    """What is served."""

    name: str = Field(description="Name of the model's folder.")
    backend: str | None = Field(description="What runs the network.")
    opened: str = Field(description="When it was opened, or opened again.")
    classes: list[Label]
    regression: bool
    multi_label: bool = Field(description="Whether a text may have several labels.")
    pairs: bool = Field(description="Whether inputs are pairs of texts.")
    max_length: int = Field(description="Tokens of a text that are read at a time.")
    detector: dict[str, Any] | None = Field(description="Score, threshold and promise of the reject option.")
    validation: dict[str, float]
    provenance: dict[str, Any]
    evidence: bool = Field(description="Whether requests may ask for evidence.")
    discover: bool = Field(description="Whether texts can be grouped.")
    extend: bool = Field(description="Whether callers with the token may extend the model.")
    limits: dict[str, int]
    masker: str = Field(description="Version of masker.")


class Status(BaseModel):
    """One word about the service."""

    status: str


class ErrorBody(BaseModel):
    """The body of every answer that is not 2xx."""

    error: str = Field(description="What is wrong, what was received, what to do.")
    error_type: str = Field(description="One word for programs.")
