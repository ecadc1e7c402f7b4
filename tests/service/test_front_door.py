"""Who may enter, and what the log and the counts say of it."""

from __future__ import annotations

import json
import logging

import pytest
from fastapi.testclient import TestClient

from masker.service import ServiceOptions, create_app
from masker.service.front_door import is_private
from masker.service.request_log import JsonLines


@pytest.fixture
def locked(model):
    with TestClient(create_app(model, ServiceOptions(token="secret"))) as client:
        yield client


@pytest.mark.parametrize(
    ("header", "status", "kind"),
    [
        (None, 401, "unauthorized"),
        ("secret", 401, "unauthorized"),
        ("Basic secret", 401, "unauthorized"),
        ("Bearer wrong", 403, "forbidden"),
        ("Bearer ", 403, "forbidden"),
        ("Bearer secretsecret", 403, "forbidden"),
        ("Bearer sécret", 403, "forbidden"),
    ],
)
def test_without_the_token_there_is_no_answer(locked, header, status, kind):
    headers = {} if header is None else {"Authorization": header.encode()}
    for method, path in (("POST", "/v1/classify"), ("GET", "/v1/model"), ("GET", "/metrics"), ("POST", "/v1/reload")):
        refused = locked.request(method, path, headers=headers)
        assert refused.status_code == status and refused.json()["error_type"] == kind
        assert ("WWW-Authenticate" in refused.headers) == (status == 401)


def test_with_the_token_there_is(locked):
    for scheme in ("Bearer", "bearer"):
        answered = locked.post("/v1/classify", json={"text": "a"}, headers={"Authorization": f"{scheme} secret"})
        assert answered.status_code == 200


def test_health_and_the_description_are_open_to_all(locked):
    for path in ("/health", "/ready", "/openapi.json"):
        assert locked.get(path).status_code == 200


def test_all_that_shows_the_model_is_private():
    assert is_private("/v1/anything") and is_private("/metrics")
    assert not is_private("/") and not is_private("/health")


def lines(caplog) -> list[dict]:
    return [json.loads(JsonLines().format(record)) for record in caplog.records if record.name == "masker.requests"]


def test_a_request_is_one_line_without_the_texts(service, caplog):
    with caplog.at_level(logging.INFO, "masker.requests"):
        service.post("/v1/classify", json={"texts": ["a private matter", "b"]})
        service.get("/nowhere")
    first, second = lines(caplog)
    assert {key: first[key] for key in ("event", "method", "path", "status", "texts")} == {
        "event": "request", "method": "POST", "path": "/v1/classify", "status": 200, "texts": 2,
    }  # fmt: skip
    assert first["ms"] > 0 and second["status"] == 404 and "private" not in caplog.text


def test_texts_are_logged_only_if_told_so(model, caplog):
    app = create_app(model, ServiceOptions(log_texts=True))
    with TestClient(app) as client, caplog.at_level(logging.INFO, "masker.requests"):
        client.post("/v1/classify", json={"text": "a private matter"})
    assert lines(caplog)[0]["inputs"] == ["a private matter"]


def test_requests_are_counted_by_path_and_status(model):
    with TestClient(create_app(model)) as client:
        client.post("/v1/classify", json={"text": "a"})
        client.post("/v1/classify", json={})
        for place in range(3):
            client.get(f"/nowhere/{place}")
        metrics = client.get("/metrics").text
    for line in (
        'masker_requests_total{path="/v1/classify",status="200"} 1.0',
        'masker_requests_total{path="/v1/classify",status="422"} 1.0',
        'masker_requests_total{path="other",status="404"} 3.0',
        'masker_request_seconds_count{path="/v1/classify"} 2.0',
    ):
        assert line in metrics
