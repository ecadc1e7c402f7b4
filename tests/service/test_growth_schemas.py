"""Requests that are none get one sentence."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from masker.service import ServiceOptions
from masker.service.failures import explain
from masker.service.growth_schemas import ExtendRequest, discover_schema, extend_schema


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"texts": ["a"], "labels": []}, "'texts' and 'labels' must be equally many, at least one; got 1 and 0"),
        ({"texts": [], "labels": []}, "'texts' and 'labels' must be equally many, at least one; got 0 and 0"),
        ({"texts": ["a", "b"], "labels": ["c", " "]}, "label number 2 is empty; name a class"),
    ],
)
def test_a_label_for_each_text(body, sentence):
    with pytest.raises(ValidationError) as refused:
        ExtendRequest.model_validate(body)
    assert explain(refused.value) == sentence


def test_the_schemas_tell_the_limits():
    options = ServiceOptions(max_texts=5, max_characters=9)
    texts = discover_schema(options, pairs=False)["properties"]["texts"]
    assert (texts["maxItems"], texts["items"]["maxLength"]) == (5, 9)
    assert extend_schema(options, pairs=True)["properties"]["texts"]["items"]["minItems"] == 2
