"""The evidence for an answer, as it goes over the wire."""

from __future__ import annotations

import json

from masker.evidence import find_evidence
from tests.evidence.test_finding import TEXT


def test_it_is_ready_for_json(model):
    content = json.loads(json.dumps(find_evidence(model, TEXT).as_dict(), allow_nan=False))
    assert set(content) == {"read_to", "single_words", "parts", "keywords", "nearest", "examples"}
    assert content["parts"][0]["spans"] == [[0, 0, 2]] and set(content["nearest"]["classes"][0]) == {"label", "value"}
    assert set(content["keywords"]["only"]) == {"label", "confidence", "p_value", "ood_score", "is_ood"}
