"""Schemathesis against a running service: requests from its own description, valid and not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings

#: What a request that breaks the description may get; Schemathesis does not think of 413.
REFUSALS = {"checks": {"negative_data_rejection": {"expected-statuses": [413, 415, 422]}}}


def try_all(url: str, examples: int) -> dict[str, Any]:
    """Try every path; raises what Schemathesis finds.

    Returns:
        Requests, and how often each status was the answer.
    """
    statuses: Counter[int] = Counter()

    def try_out(operation: Any, mode: Any) -> None:
        @settings(max_examples=examples, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: Any) -> None:
            statuses[case.call_and_validate().status_code] += 1

        check()

    described = schemathesis.openapi.from_url(f"{url}/openapi.json", config=schemathesis.Config.from_dict(REFUSALS))
    for found in described.get_all_operations():
        try_out(found.ok(), schemathesis.GenerationMode.POSITIVE)
        if found.ok().body:
            try_out(found.ok(), schemathesis.GenerationMode.NEGATIVE)
    return {
        "requests": statuses.total(),
        "statuses": {str(status): count for status, count in sorted(statuses.items())},
    }
