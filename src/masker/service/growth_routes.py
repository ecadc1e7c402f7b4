"""The paths that lead from rejected texts to new classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from masker.discovery import DiscoverySettings
from masker.service.growth_schemas import (
    DiscoverRequest,
    DiscoverResponse,
    ExtendRequest,
    ExtendResponse,
    discover_schema,
    extend_schema,
)
from masker.service.routes import errors, json_response, note_texts, parse_body, read_body

if TYPE_CHECKING:
    from masker.service.application import Service

DISCOVER, EXTEND = "/v1/discover", "/v1/extend"


def growth_routes(service: Service) -> APIRouter:
    """Routes of a service: groups among texts, and the extension of its model."""
    router = APIRouter(tags=["new classes"], responses=errors(401, 403) if service.options.token else {})
    options, pairs = service.options, service.served.model.pairs

    @router.post(
        DISCOVER,
        response_model=DiscoverResponse,
        responses=errors(408, 409, 413, 415, 422, 429),
        openapi_extra=_body(discover_schema(options, pairs=pairs)),
    )
    async def discover(request: Request) -> Response:
        """Group those of the texts that the model rejects: candidates for new classes."""
        asked = parse_body(DiscoverRequest, await read_body(request, options))
        note_texts(request, asked.texts, shown=options.log_texts)
        settings = DiscoverySettings(max_groups=asked.max_groups, only_rejected=asked.only_rejected)
        return json_response(await service.growth.discover(asked.texts, settings))

    @router.post(
        EXTEND,
        response_model=ExtendResponse,
        responses=errors(403, 408, 409, 413, 415, 422, 429),
        openapi_extra=_body(extend_schema(options, pairs=pairs)),
    )
    async def extend(request: Request) -> Response:
        """Add labelled texts to the model, in its folder, and serve it. Needs a service with a token."""
        service.growth.require_extension()  # before anything is read
        asked = parse_body(ExtendRequest, await read_body(request, options))
        note_texts(request, asked.texts, shown=options.log_texts)
        return json_response(await service.growth.extend(asked.texts, asked.labels))

    return router


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"content": {"application/json": {"schema": schema}}, "required": True}}
