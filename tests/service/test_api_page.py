"""The page of the API comes from this machine alone."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

pytestmark = pytest.mark.skipif(find_spec("fastapi_offline") is None, reason="fastapi-offline is not installed")


def test_the_page_asks_nobody_else(service):
    page = service.get("/docs").text
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", page)
    files = re.findall(r"""(?:src|href)=["']([^"']+)""", page)
    assert len(files) >= 3
    for file in files:
        assert service.get(file).status_code == 200, file
    assert "/openapi.json" in page and '"validatorUrl": null' in page
