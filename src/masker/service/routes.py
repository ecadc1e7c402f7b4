"""The paths of the service."""

from __future__ import annotations

from asyncio import timeout
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.routing import Route

from masker.service.failures import ServiceError, explain, invalid, too_large, unavailable
from masker.service.front_door import NOTES, KnownPaths
from masker.service.schemas import (
    ClassifyRequest,
    ClassifyResponse,
    ErrorBody,
    ModelDescription,
    Status,
    request_example,
    request_schema,
)
from masker.service.service_options import ServiceOptions

if TYPE_CHECKING:
    from masker.service.application import Service

CLASSIFY = "/v1/classify"
Asked = TypeVar("Asked", bound=BaseModel)


_MEANINGS = {
    401: "No token.",
    403: "Not this token.",
    408: "The request did not arrive in time.",
    409: "Not with this model, or the new one cannot be opened; the one before stays.",
    413: "Too many texts, or too long.",
    415: "Not JSON.",
    422: "Not what this model can answer.",
    429: "Too many texts wait; see Retry-After.",
    503: "Starting, stopping, or no answer in time.",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How a route may fail, for the description of the API."""
    return {status: {"model": ErrorBody, "description": _MEANINGS[status]} for status in statuses}


def add_routes(app: FastAPI, service: Service, more: APIRouter) -> KnownPaths:
    """Add all routes, and ``more`` that ask for the token; returns what the front door is to know of them."""
    private, public = _private_routes(service), _public_routes(service)
    for router in (private, more):
        app.include_router(
            router, dependencies=[Depends(HTTPBearer(auto_error=False))] if service.options.token else []
        )
    app.include_router(public)
    routes = {
        route.path: route.endpoint
        for router in (private, more, public)
        for route in router.routes
        if isinstance(route, Route)
    }
    return KnownPaths(frozenset(routes), {CLASSIFY: routes[CLASSIFY]})


def note_texts(request: Request, texts: Sequence[Any], *, shown: bool) -> None:
    """Note how many texts a request has, or the texts, for its line in the log."""
    notes = request.scope.get(NOTES, {})
    notes["texts"] = len(texts)
    if shown:
        notes["inputs"] = texts


def _private_routes(service: Service) -> APIRouter:
    router = APIRouter(responses=errors(401, 403) if service.options.token else {})
    pairs = service.served.model.pairs
    schema = request_schema(service.options, pairs=pairs, evidence=service.evidence is not None)
    body = {"schema": schema, "example": request_example(pairs=pairs)}

    @router.post(
        CLASSIFY,
        tags=["classification"],
        response_model=ClassifyResponse,
        responses=errors(408, 413, 415, 422, 429, 503),
        openapi_extra={"requestBody": {"content": {"application/json": body}, "required": True}},
    )
    async def classify(request: Request) -> Response:
        """Classify one text or many."""
        service.queue.require_room()  # before the work of reading: most are refused when there is least time for it
        asked = parse_body(ClassifyRequest, await read_body(request, service.options))
        texts = asked.inputs()
        note_texts(request, texts, shown=service.options.log_texts)
        answers = await service.classify(texts, top_k=asked.top_k, evidence=asked.evidence)
        return json_response({"predictions": answers})

    @router.get("/v1/model", tags=["classification"], response_model=ModelDescription)
    async def model() -> Response:
        """What is served: classes, score, promise, limits, where it comes from."""
        return json_response(service.describe())

    @router.post("/v1/reload", tags=["operation"], response_model=ModelDescription, responses=errors(403, 409))
    async def reload() -> Response:
        """Open the model folder again. What was accepted before is answered by the model before."""
        if service.options.token is None:
            raise ServiceError(
                403, "forbidden", "start the service with --token-file to reload over HTTP, or use SIGHUP"
            )
        await service.reload(everywhere=True)
        return json_response(service.describe())

    @router.get("/v1/drift", tags=["operation"], response_model=dict[str, Any])
    async def drift() -> Response:
        """What the monitor sees in the traffic; empty without one."""
        return json_response(service.served.drift() or {})

    @router.get(
        "/metrics", tags=["operation"], response_class=Response, responses={200: {"content": {"text/plain": {}}}}
    )
    async def metrics() -> Response:
        """Counts for Prometheus."""
        service.note()
        return Response(service.metrics.render(), media_type=service.metrics.content_type)

    return router


def _public_routes(service: Service) -> APIRouter:
    router = APIRouter(tags=["operation"])

    @router.get("/health", response_model=Status)
    async def health() -> JSONResponse:
        """Whether the process runs."""
        return JSONResponse({"status": "ok"})

    @router.get("/ready", response_model=Status, responses=errors(503))
    async def ready() -> JSONResponse:
        """Whether requests are accepted."""
        if not service.queue.is_running:
            raise unavailable("not_ready", "the service is starting or stopping; try again soon")
        return JSONResponse({"status": "ready"})

    return router


def json_response(content: Any) -> Response:
    """JSON has no infinity: the threshold of a model that rejects nothing becomes null."""
    return Response(to_json(content, inf_nan_mode="null"), media_type="application/json")


async def read_body(request: Request, options: ServiceOptions) -> bytes:
    """The body of a JSON request.

    Raises:
        ServiceError: When it is not JSON, too large, or does not arrive in time.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        # Browsers send other kinds to any address on behalf of any page.
        message = (
            f"the body must be JSON; got the content type '{kind}'; send the header 'Content-Type: application/json'"
        )
        raise ServiceError(415, "unsupported_media_type", message)
    limit = options.max_body_bytes
    size = request.headers.get("content-length", "")
    if size.isdecimal() and int(size) > limit:
        raise too_large(f"a request may have {limit} bytes; got {size}; send fewer texts at a time")
    parts, received = [], 0
    try:
        async with timeout(options.request_timeout):
            async for part in request.stream():
                received += len(part)
                if received > limit:
                    raise too_large(f"a request may have {limit} bytes; got more; send fewer texts at a time")
                parts.append(part)
    except TimeoutError:
        seconds = options.request_timeout
        raise ServiceError(408, "timeout", f"the request did not arrive within {seconds:g} s") from None
    return b"".join(parts)


def parse_body(kind: type[Asked], body: bytes) -> Asked:
    """The request in a body.

    Raises:
        ServiceError: When it is none.
    """
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise invalid(explain(error)) from None
