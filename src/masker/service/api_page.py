"""The page of the API, ``/docs``: Swagger UI, whose files the package fastapi-offline carries.

FastAPI's own page loads them from a server on the internet.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

PAGE = "/docs"
_FILES = "/docs-files"


def add_api_page(app: FastAPI) -> None:
    """Add the page of the API; without fastapi-offline there is none, and ``/openapi.json`` still describes it."""
    found = find_spec("fastapi_offline")
    if found is None or found.origin is None:
        return
    app.mount(_FILES, StaticFiles(directory=Path(found.origin).parent / "static"))

    @app.get(PAGE, include_in_schema=False)
    async def page() -> HTMLResponse:
        return get_swagger_ui_html(
            openapi_url=str(app.openapi_url),
            title="masker",
            swagger_js_url=f"{_FILES}/swagger-ui-bundle.js",
            swagger_css_url=f"{_FILES}/swagger-ui.css",
            swagger_favicon_url=f"{_FILES}/favicon.png",
            # Its validator would ask a server on the internet.
            swagger_ui_parameters={"validatorUrl": None, "tryItOutEnabled": True},
        )
