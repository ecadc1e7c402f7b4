"""Grouping and extending over HTTP: limits and answers."""

from __future__ import annotations

from fastapi.testclient import TestClient

from masker.service import ServiceOptions, create_app
from tests.service.test_growth import FOOD, MARKET


def test_groups_over_http(service):
    answer = service.post("/v1/discover", json={"texts": [FOOD, *MARKET], "max_groups": 3})
    found = answer.json()
    assert answer.status_code == 200 and found["texts"] == 7
    assert 1 <= len(found["groups"]) <= 3 and found["sentence"].startswith(f"{found['rejected']} rejected texts of 7")
    group = found["groups"][0]
    assert set(group["middle"] + group["edge"]) <= set(MARKET) and group["name"]


def test_limits(model):
    with TestClient(create_app(model, ServiceOptions(max_texts=2))) as client:
        assert client.post("/v1/discover", json={"texts": ["a"] * 3}).status_code == 413
        assert client.post("/v1/discover", json={"texts": [["a", "b"]]}).status_code == 422
        assert client.post("/v1/discover", json={"texts": ["a"], "max_groups": 0}).status_code == 422
        assert client.post("/v1/discover", content="{}").status_code == 415
        assert client.post("/v1/discover", json={"texts": []}).json()["groups"] == []
