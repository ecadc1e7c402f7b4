"""A request is one text, many, or pairs; an answer has the fields of the library."""

from __future__ import annotations

from dataclasses import fields

from masker import Prediction
from masker.service.schemas import Answer, ClassifyRequest


def inputs(**content):
    return ClassifyRequest(**content).inputs()


def test_texts_come_as_the_library_takes_them():
    assert inputs(text="a") == ["a"]
    assert inputs(text="a", text_pair="b") == [("a", "b")]
    assert inputs(texts=["a", "b"]) == ["a", "b"]
    assert ClassifyRequest.model_validate_json('{"texts": [["a", "b"], ["c", "d"]]}').inputs() == [
        ("a", "b"),
        ("c", "d"),
    ]


def test_an_answer_has_the_fields_of_a_prediction():
    names = [field.name for field in fields(Prediction)]
    assert list(Answer.model_fields)[: len(names)] == names
