"""The page of the API comes from this machine alone."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest
from fastapi.testclient import TestClient

from masker.service import api_page, create_app


@pytest.mark.skipif(find_spec("fastapi_offline") is None, reason="fastapi-offline is not installed")
def test_the_page_asks_nobody_else(service):
    page = service.get("/docs").text
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", page)
    files = re.findall(r"""(?:src|href)=["']([^"']+)""", page)
    assert len(files) >= 3
    for file in files:
        assert service.get(file).status_code == 200, file
    assert "/openapi.json" in page and '"validatorUrl": null' in page


def test_without_its_files_there_is_no_page_and_the_description_stays(model, monkeypatch):
    monkeypatch.setattr(api_page, "find_spec", lambda name: None)
    with TestClient(create_app(model)) as client:
        assert client.get("/docs").status_code == 404
        assert "/v1/classify" in client.get("/openapi.json").json()["paths"]
