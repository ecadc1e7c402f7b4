"""Limits that make no sense are refused in one line."""

from __future__ import annotations

import pytest

from masker.errors import ConfigError
from masker.service.service_options import ServiceOptions


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_texts": 0}, "max_texts: must be at least 1; got 0"),
        ({"max_batch_tokens": -3}, "max_batch_tokens: must be at least 1; got -3"),
        ({"batch_wait_ms": -1}, "batch_wait_ms: must lie between 0 and 1000; got -1"),
        ({"request_timeout": 0}, "request_timeout: must be greater than 0; got 0"),
        ({"token": "schlüssel"}, "the token has letters that no HTTP header can carry; use ASCII"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(options, sentence):
    with pytest.raises(ConfigError) as refused:
        ServiceOptions(**options)
    assert str(refused.value) == sentence


def test_callers_are_told_the_limits_and_never_the_token():
    assert ServiceOptions(token="secret").limits()["max_texts"] == ServiceOptions().max_texts
    assert "secret" not in str(ServiceOptions(token="secret").limits())
