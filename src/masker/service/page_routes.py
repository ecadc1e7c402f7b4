"""The page at ``/``, and what it asks for beside the routes that everybody uses."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.responses import Response

from masker.detection.prediction import Prediction
from masker.documents.texts import Text
from masker.evidence import TrainingExamples, find_evidence, open_examples
from masker.model import Model
from masker.service.failures import ServiceError
from masker.service.held_out_scores import held_out_scores
from masker.service.routes import CLASSIFY, json_response

if TYPE_CHECKING:
    from masker.service.application import Service

_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
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
        kind = _TYPES.get(file.name.rpartition(".")[2])
        if kind is not None:
            found[file.name] = file.read_bytes(), kind
    return found


def requested_evidence(model: Model, texts: Sequence[Text], predictions: Sequence[Prediction]) -> list[dict[str, Any]]:
    """What the answers rest on, for requests with ``evidence``."""
    return [find_evidence(model, text).as_dict() for text in texts]


class FolderEvidence:
    """The same with the nearest training texts, if the model's folder keeps some. For one thread at a time."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._model: Model | None = None
        self._examples: TrainingExamples | None = None

    def __call__(self, model: Model, texts: Sequence[Text], predictions: Sequence[Prediction]) -> list[dict[str, Any]]:
        if model is not self._model:  # the first request, or the first after a reload
            self._examples, self._model = open_examples(self._folder), model
        return [find_evidence(model, text, self._examples).as_dict() for text in texts]


def add_page(app: FastAPI, service: Service) -> None:
    """Add the page to a service."""
    content = page_files()

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

    @app.get("/v1/calibration", include_in_schema=False)
    async def calibration() -> Response:
        detector = service.served.model.detector
        return json_response(None if detector is None else held_out_scores(detector).as_dict())

    @app.get("/v1/traffic", include_in_schema=False)
    async def traffic() -> Response:
        return json_response(service.metrics.traffic(CLASSIFY))
