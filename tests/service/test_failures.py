"""Every error has one form; the sentences are those of the command line."""

from __future__ import annotations

import json

import pytest
from starlette.exceptions import HTTPException

from masker.errors import ConfigError, DataError, ModelError
from masker.service.failures import ServiceError, error_response, overloaded, too_large


@pytest.mark.parametrize(
    ("error", "status", "kind", "sentence"),
    [
        (DataError("no such text"), 422, "validation", "no such text"),
        (ConfigError("no such score"), 422, "validation", "no such score"),
        (ModelError("the network gives NaN"), 500, "model", "the network gives NaN"),
        (too_large("too long"), 413, "too_large", "too long"),
        (HTTPException(404, "Not Found"), 404, "not_found", "Not Found"),
        (HTTPException(418, "teapot"), 418, "http", "teapot"),
        (KeyError("x"), 500, "internal", "unexpected KeyError; the log of the service says more"),
    ],
)
def test_an_error_becomes_a_status_a_word_and_a_sentence(error, status, kind, sentence):
    response = error_response(error)
    assert response.status_code == status
    assert json.loads(response.body) == {"error": sentence, "error_type": kind}


@pytest.mark.parametrize(("wait", "header"), [(0.0, "1"), (2.4, "2"), (1e6, "60")])
def test_who_is_refused_for_load_is_told_when_to_come_back(wait, header):
    response = error_response(overloaded("busy", wait))
    assert response.status_code == 429 and response.headers["Retry-After"] == header


def test_headers_of_an_error_are_sent():
    assert error_response(ServiceError(401, "unauthorized", "no", {"WWW-Authenticate": "Bearer"})).headers[
        "WWW-Authenticate"
    ]
