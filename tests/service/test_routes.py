"""Bodies that are no request get a sentence, not a traceback; the description of the API is true."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from fastapi.testclient import TestClient

from masker.service import ServiceOptions, create_app
from masker.service.failures import REFUSAL_DELAY, ServiceError
from masker.service.routes import parse_body
from masker.service.schemas import ClassifyRequest


def post(client, body, kind="application/json"):
    return client.post("/v1/classify", content=body, headers={"Content-Type": kind})


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("{}", "give either 'text' or 'texts'; got neither"),
        ('{"text": "a", "texts": []}', "give either 'text' or 'texts'; got both"),
        (
            '{"texts": ["a"], "text_pair": "b"}',
            "'text_pair' belongs to 'text'; put pairs into 'texts' as [text, text_pair]",
        ),
        ('{"txt": "a"}', "unknown field 'txt'; leave it out"),
        ('{"text": 5}', "text: input should be a valid string; got 5"),
        ('{"text": "a", "top_k": -1}', "top_k: input should be greater than or equal to 0; got -1"),
        ('{"text": "a", "top_k": "2"}', "top_k: input should be a valid integer; got '2'"),
        ("[]", "Input should be an object"),
    ],
)
def test_a_body_that_is_no_request_gets_one_sentence(body, sentence):
    with pytest.raises(ServiceError) as refused:
        parse_body(ClassifyRequest, body.encode())
    assert str(refused.value) == sentence and refused.value.status == 422


@pytest.mark.parametrize("body", ["", "{", "null", '{"text": "\\ud800"}', '{"text": "\x00'])
def test_what_is_not_even_json_is_refused(service, body):
    refused = post(service, body.encode("utf-8", "surrogatepass"))
    assert refused.status_code == 422 and refused.json()["error_type"] == "validation"


def test_many_problems_are_not_all_listed():
    with pytest.raises(ServiceError) as refused:
        parse_body(ClassifyRequest, json.dumps({"texts": list(range(100))}).encode())
    assert str(refused.value).startswith("texts.0: input should be a valid string; got 0; ")
    assert str(refused.value).endswith("; and 197 more")


def test_a_long_value_is_cut_in_the_sentence():
    with pytest.raises(ServiceError, match=r"got \['x{10}.*\.\.\.$") as refused:
        parse_body(ClassifyRequest, json.dumps({"text": ["x" * 1000]}).encode())
    assert len(str(refused.value)) < 120


def test_only_json_is_taken(service):
    """A page of another origin can make a browser send a form, but not JSON."""
    refused = post(service, '{"text": "a"}', "text/plain")
    assert refused.status_code == 415 and "Content-Type: application/json" in refused.json()["error"]
    assert post(service, '{"text": "a"}', "application/json; charset=utf-8").status_code == 200


def test_a_body_beyond_the_limit_is_refused_announced_or_not(model):
    with TestClient(create_app(model, ServiceOptions(max_body_bytes=100))) as client:
        announced = post(client, json.dumps({"text": "a" * 200}))
        unannounced = post(client, iter([b'{"text": "', b"a" * 200, b'"}']))
        assert post(client, json.dumps({"text": "a"})).status_code == 200
    for refused in (announced, unannounced):
        assert refused.status_code == 413 and refused.json()["error_type"] == "too_large"
        assert refused.json()["error"].startswith("a request may have 100 bytes; got ")


def test_a_body_that_does_not_arrive_is_given_up(model):
    """Headers have come, the body never does."""
    app, sent = create_app(model, ServiceOptions(request_timeout=0.05)), []

    async def receive():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"content-length", b"20")]
    scope = {"type": "http", "method": "POST", "path": "/v1/classify", "headers": headers, "query_string": b""}

    async def scenario():
        async with app.state.service.running():
            await app(scope, receive, send)

    asyncio.run(scenario())
    assert sent[0]["status"] == 408 and json.loads(sent[1]["body"])["error_type"] == "timeout"


def test_a_full_service_refuses_before_it_reads(model, monkeypatch):
    from masker.service import routes

    app = create_app(model, ServiceOptions(max_queue=1))
    monkeypatch.setattr(routes, "read_body", None)  # would be a bug if it were called
    with TestClient(app) as client:
        app.state.service.queue.waiting = 1
        start = time.perf_counter()
        refused = post(client, "{}")
        app.state.service.queue.waiting = 0
    assert refused.status_code == 429 and refused.json()["error_type"] == "overloaded"
    assert time.perf_counter() - start >= REFUSAL_DELAY  # who comes back at once does not keep the service busy
    assert refused.headers["Retry-After"] == "1"


def test_unknown_paths_and_methods_have_errors_of_the_same_form(service):
    assert service.get("/nowhere").json() == {"error": "Not Found", "error_type": "not_found"}
    assert service.get("/v1/classify").json()["error_type"] == "method_not_allowed"


def test_the_example_of_the_description_works(service):
    described = service.get("/openapi.json").json()
    body = described["paths"]["/v1/classify"]["post"]["requestBody"]["content"]["application/json"]
    answered = service.post("/v1/classify", json=body["example"])
    assert answered.status_code == 200 and len(answered.json()["predictions"][0]["top_k"]) == 2


def test_every_path_is_described_with_its_errors(service):
    paths = service.get("/openapi.json").json()["paths"]
    grown = {"/v1/discover", "/v1/extend"}
    assert set(paths) - grown == {
        "/v1/classify",
        "/v1/model",
        "/v1/reload",
        "/v1/drift",
        "/metrics",
        "/health",
        "/ready",
    }
    assert grown < set(paths)
    assert {"408", "413", "415", "422", "429", "503"} <= set(paths["/v1/classify"]["post"]["responses"])


def test_a_service_with_a_token_says_so_in_its_description(model):
    described = TestClient(create_app(model, ServiceOptions(token="secret"))).get("/openapi.json").json()
    assert described["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    assert {"401", "403"} <= set(described["paths"]["/v1/model"]["get"]["responses"])
    assert "security" not in described["paths"]["/health"]["get"]
