"""The service as an ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from pydantic_core import to_json

from masker import __version__
from masker.documents.texts import Text
from masker.model import Model
from masker.service.batch_queue import BatchQueue
from masker.service.classification import Classified, EvidenceFinder, Scorer, TrafficMonitor, top_classes
from masker.service.failures import ServiceError, add_error_handlers, explain, invalid, too_large
from masker.service.page_routes import add_page
from masker.service.requested_evidence import requested_evidence
from masker.service.schemas import ClassifyRequest, ClassifyResponse, ErrorBody
from masker.service.service_options import ServiceOptions

_ERRORS: dict[int | str, dict[str, Any]] = {status: {"model": ErrorBody} for status in (401, 403, 413, 422, 429, 503)}


class Service:
    """What the routes share; ``app.state.service``.

    Attributes:
        model: The model that new requests get.
        options: Limits and settings.
        monitor: Watches for drift, if given.
        evidence: Finds the evidence for answers, if given.
        queue: Where requests wait.
    """

    def __init__(
        self, model: Model, options: ServiceOptions, monitor: TrafficMonitor | None, evidence: EvidenceFinder | None
    ) -> None:
        self.model, self.options, self.monitor, self.evidence = model, options, monitor, evidence
        self.queue: BatchQueue[Model, Classified] = BatchQueue(Scorer(monitor), options)

    def require_ready(self) -> None:
        if not self.queue.is_running:
            raise ServiceError(503, "not_ready", "the service is starting or stopping; try again soon")

    async def classify(self, texts: Sequence[Text], *, top_k: int = 0, evidence: bool = False) -> list[dict[str, Any]]:
        """JSON-ready answers, in the order of the texts."""
        self.require_ready()
        model = self.model
        if evidence and self.evidence is None:
            raise invalid("evidence: this service does not offer it; leave it out")
        self._check_kind(model, texts)
        classified = await self.queue.submit(model, texts)
        answers = [one.prediction.as_dict() for one in classified]
        if top_k:
            for answer, one in zip(answers, classified, strict=True):
                answer["top_k"] = top_classes(model, one, top_k)
        if evidence and self.evidence is not None:
            predictions = [one.prediction for one in classified]
            found = await asyncio.to_thread(self.evidence, model, texts, predictions)
            for answer, words in zip(answers, found, strict=True):
                answer["evidence"] = words
        return answers

    def _check_kind(self, model: Model, texts: Sequence[Text]) -> None:
        if texts and isinstance(texts[0], str) == model.pairs:
            expected = "pairs of texts (columns text and text_pair)" if model.pairs else "single texts"
            raise invalid(f"this model was trained on {expected}; the input is of the other kind")

    def check_limits(self, texts: Sequence[Text]) -> None:
        """Refuse what is beyond a limit."""
        if len(texts) > self.options.max_texts:
            raise too_large(f"a request may have {self.options.max_texts} texts; got {len(texts)}; send them in parts")
        for place, text in enumerate(texts):
            size = len(text) if isinstance(text, str) else len(text[0]) + len(text[1])
            if size > self.options.max_characters:
                limit = self.options.max_characters
                raise too_large(f"a text may have {limit} characters; text {place} has {size}; shorten it")

    def describe(self) -> dict[str, Any]:
        """What ``GET /v1/model`` answers."""
        model = self.model
        return {
            "classes": model.labels,
            "pairs": model.pairs,
            "max_length": model.max_length,
            "regression": model.is_regression,
            "detector": model.describe_detector(),
            "validation": model.validation,
            "provenance": model.provenance,
            "masker": __version__,
        }


def create_app(
    model: Model,
    options: ServiceOptions | None = None,
    *,
    monitor: TrafficMonitor | None = None,
    evidence: EvidenceFinder | None = requested_evidence,
    extend: Callable[[FastAPI], None] | None = None,
) -> FastAPI:
    """Make the service of a model.

    Args:
        model: The model.
        options: Limits and settings.
        monitor: Is told the p-value and the label of every answer; ``/metrics`` and ``/v1/drift`` show its state.
        evidence: Finds the words that carry an answer, for requests with ``evidence``; ``None`` refuses these.
        extend: Adds routes.
    """
    service = Service(model, options or ServiceOptions(), monitor, evidence)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await service.queue.start()
        yield
        await service.queue.stop()

    app = FastAPI(title="masker", version=__version__, lifespan=lifespan)
    app.state.service = service
    add_error_handlers(app)
    _add_routes(app, service)
    add_page(app)
    if extend is not None:
        extend(app)
    return app


def _add_routes(app: FastAPI, service: Service) -> None:
    body = {"content": {"application/json": {"schema": ClassifyRequest.model_json_schema()}}, "required": True}

    @app.post(
        "/v1/classify",
        responses={200: {"model": ClassifyResponse}, **_ERRORS},
        openapi_extra={"requestBody": body},
    )
    async def classify(request: Request) -> Response:
        """Classify one text or many."""
        try:
            asked = ClassifyRequest.model_validate_json(await request.body())
        except ValidationError as error:
            raise invalid(explain(error)) from None
        texts = asked.inputs()
        service.check_limits(texts)
        answers = await service.classify(texts, top_k=asked.top_k, evidence=asked.evidence)
        return Response(to_json({"predictions": answers}, inf_nan_mode="null"), media_type="application/json")

    @app.get("/v1/model")
    async def model() -> JSONResponse:
        """What the model is: classes, score, promise, where it comes from."""
        return JSONResponse(service.describe())

    @app.get("/v1/drift")
    async def drift() -> JSONResponse:
        """What the monitor sees in the traffic."""
        return JSONResponse({} if service.monitor is None else service.monitor.state())

    @app.get("/health")
    async def health() -> JSONResponse:
        """Whether the process runs."""
        return JSONResponse({"status": "ok"})

    @app.get("/ready", responses={503: {"model": ErrorBody}})
    async def ready() -> JSONResponse:
        """Whether it takes requests."""
        service.require_ready()
        return JSONResponse({"status": "ready"})
