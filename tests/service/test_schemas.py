"""A request is one text, many, or pairs; an answer has the fields of the library."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from masker import Prediction
from masker.detection.prediction import LabelSetPrediction
from masker.service.schemas import Answer, ClassifyRequest, request_example, request_schema
from masker.service.service_options import ServiceOptions


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


@pytest.mark.parametrize("pairs", [False, True])
def test_the_description_has_the_limits_of_the_service_and_the_kind_of_its_model(pairs):
    schema = request_schema(ServiceOptions(max_texts=7, max_characters=99), pairs=pairs, evidence=False)
    texts = schema["properties"]["texts"]
    assert texts["maxItems"] == 7 and schema["properties"]["text"]["maxLength"] == 99
    assert texts["items"]["type"] == ("array" if pairs else "string")
    assert ("text_pair" in schema["properties"]) == pairs
    assert set(schema["properties"]) <= set(ClassifyRequest.model_fields)
    ClassifyRequest.model_validate_json(json.dumps(request_example(pairs=pairs)))


def test_an_answer_with_several_labels_has_the_fields_of_the_library():
    told = LabelSetPrediction("a", 0.9, 0.5, 0.1, False, ("a", "b"), (0.9, 0.6)).as_dict()
    assert set(told) <= set(Answer.model_fields)
    assert Answer.model_validate(told).model_dump(exclude_unset=True) == told
