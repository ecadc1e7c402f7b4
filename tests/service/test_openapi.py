"""The service keeps to its own description: Schemathesis makes requests from it, valid and not, and finds no 5xx."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from masker.service import ServiceOptions, create_app
from tests.service.conftest import listening

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

EXAMPLES = 40
#: What a request that breaks the description may get; Schemathesis does not think of 413.
REFUSALS = {"checks": {"negative_data_rejection": {"expected-statuses": [413, 415, 422]}}}


def test_answers_keep_to_the_description(model):
    tried = set()

    def try_out(operation, mode):
        @settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case):
            answer = case.call_and_validate()
            tried.add((operation.path, answer.status_code))

        check()

    with listening(create_app(model, ServiceOptions(max_texts=3, max_characters=20))) as url:
        config = schemathesis.Config.from_dict(REFUSALS)
        for found in schemathesis.openapi.from_url(f"{url}/openapi.json", config=config).get_all_operations():
            try_out(found.ok(), schemathesis.GenerationMode.POSITIVE)
            if found.ok().path == "/v1/classify":
                try_out(found.ok(), schemathesis.GenerationMode.NEGATIVE)
    assert {
        ("/v1/classify", 200),
        ("/v1/classify", 413),
        ("/v1/classify", 422),
        ("/v1/model", 200),
        ("/v1/reload", 403),
    } <= tried
