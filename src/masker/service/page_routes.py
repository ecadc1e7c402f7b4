"""The page at ``/``, and what it asks for beside the routes that everybody uses."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response

from masker.service.failures import ServiceError
from masker.service.score_histogram import score_histogram

_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
#: The page loads nothing but its own files, and no other page frames it.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def page_files() -> dict[str, tuple[bytes, str]]:
    """Content and media type of the page's files, by name."""
    found = {}
    for file in files("masker.service").joinpath("page").iterdir():
        kind = _TYPES.get("." + file.name.rpartition(".")[2])
        if kind is not None:
            found[file.name] = file.read_bytes(), kind
    return found


def add_page(app: FastAPI) -> None:
    """Add the page to a service."""
    content = page_files()
    service = app.state.service

    def answer(name: str) -> Response:
        if name not in content:
            raise ServiceError(404, "not_found", f"the page has no file '{name[:80]}'")
        body, kind = content[name]
        return Response(body, media_type=kind, headers=HEADERS)

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return answer("index.html")

    @app.get("/page/{name}", include_in_schema=False)
    async def page_file(name: str) -> Response:
        return answer(name)

    @app.get("/v1/calibration")
    async def calibration() -> JSONResponse:
        """Scores of held-out documents as a histogram, and the thresholds; null for a regression."""
        detector = service.model.detector
        histogram: dict[str, Any] | None = None if detector is None else score_histogram(detector).as_dict()
        return JSONResponse(histogram)
