"""What goes over the wire. These classes make the OpenAPI description, too."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from masker.documents.texts import Text

Label = str | bool | int | float

#: Shown and sent by the page of the API. A model of pairs refuses it, and says why.
EXAMPLE: dict[str, Any] = {"texts": ["where is my parcel", "please send the invoice again"], "top_k": 2}


class ClassifyRequest(BaseModel):
    """Texts to classify: either ``text`` (with ``text_pair`` for a model of pairs) or ``texts``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str | None = Field(None, description="One text.")
    text_pair: str | None = Field(None, description="Its second text, if the model was trained on pairs.")
    texts: list[str | tuple[str, str]] | None = Field(None, description="Many texts, or many [text, text_pair] pairs.")
    top_k: int = Field(0, ge=0, le=1000, description="Add the most probable classes, at most this many.")
    evidence: bool = Field(False, description="Add the words that carry each answer.")

    @model_validator(mode="after")
    def _one_of_text_and_texts(self) -> ClassifyRequest:
        if (self.text is None) == (self.texts is None):
            given = "both" if self.text is not None else "neither"
            raise ValueError(f"give either 'text' or 'texts'; got {given}")
        if self.text_pair is not None and self.text is None:
            raise ValueError("'text_pair' belongs to 'text'; put pairs into 'texts' as [text, text_pair]")
        return self

    def inputs(self) -> list[Text]:
        """The texts as :meth:`masker.Model.predict` takes them."""
        if self.texts is not None:
            return list(self.texts)
        assert self.text is not None
        return [self.text if self.text_pair is None else (self.text, self.text_pair)]


class ClassProbability(BaseModel):
    """One class and its probability."""

    label: Label
    confidence: float


class Answer(BaseModel):
    """The answer for one text: the fields of :class:`masker.Prediction`, and what the request asked for besides."""

    label: Label
    confidence: float | None = Field(description="Probability of the label; null for a regression.")
    p_value: float | None = Field(description="About the share of the model's own texts that look as strange.")
    ood_score: float | None = Field(description="Higher = more out-of-distribution.")
    is_ood: bool | None = Field(description="Whether the text belongs to none of the classes.")
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
    pairs: bool = Field(description="Whether inputs are pairs of texts.")
    max_length: int = Field(description="Tokens of a text that are read at a time.")
    detector: dict[str, Any] | None = Field(description="Score, threshold and promise of the reject option.")
    validation: dict[str, float]
    provenance: dict[str, Any]
    evidence: bool = Field(description="Whether requests may ask for evidence.")
    limits: dict[str, int]
    masker: str = Field(description="Version of masker.")


class Status(BaseModel):
    """One word about the service."""

    status: str


class ErrorBody(BaseModel):
    """The body of every answer that is not 2xx."""

    error: str = Field(description="What is wrong, what was received, what to do.")
    error_type: str = Field(description="One word for programs.")
