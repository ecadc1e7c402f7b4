"""What goes over the wire. These classes make the OpenAPI description, too."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

Pair = Annotated[list[str], Field(min_length=2, max_length=2)]
Label = str | bool | int | float

_EXAMPLE = {"texts": ["where is my parcel", "please send the invoice again"], "top_k": 2}


class ClassifyRequest(BaseModel):
    """Texts to classify: either ``text`` (with ``text_pair`` for a model of pairs) or ``texts``."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})

    text: str | None = Field(None, description="One text.")
    text_pair: str | None = Field(None, description="Its second text, if the model was trained on pairs.")
    texts: list[str] | list[Pair] | None = Field(None, description="Many texts, or many [text, text_pair] pairs.")
    top_k: int = Field(0, ge=0, description="Add the most probable classes, at most this many.")
    evidence: bool = Field(False, description="Add the words that carry each answer.")

    @model_validator(mode="after")
    def _one_of_text_and_texts(self) -> ClassifyRequest:
        if (self.text is None) == (self.texts is None):
            given = "both" if self.text is not None else "neither"
            raise ValueError(f"give either 'text' or 'texts'; got {given}")
        if self.text_pair is not None and self.text is None:
            raise ValueError("'text_pair' belongs to 'text'; put pairs into 'texts' as [text, text_pair]")
        return self

    def inputs(self) -> list[Any]:
        """The texts as :meth:`masker.Model.predict` takes them."""
        if self.texts is not None:
            return [text if isinstance(text, str) else (text[0], text[1]) for text in self.texts]
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
    top_k: list[ClassProbability] | None = None
    evidence: dict[str, Any] | None = None


class ClassifyResponse(BaseModel):
    """One answer for each text, in the order of the texts."""

    predictions: list[Answer]


class ErrorBody(BaseModel):
    """The body of every answer that is not 2xx."""

    error: str = Field(description="What is wrong, what was received, what to do.")
    error_type: str
