"""Every request passes here: who may enter, how long it took, one line in the log."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from masker.errors import MaskerError
from masker.service.failures import ServiceError, answer_error, error_response
from masker.service.service_metrics import ServiceMetrics
from masker.service.service_options import ServiceOptions

_log = logging.getLogger("masker.requests")

#: Key of an ASGI scope with what the route adds to the log.
NOTES = "masker"
_SCHEME = b"bearer "


@dataclass(frozen=True)
class KnownPaths:
    """The paths of a service.

    Attributes:
        counted: Counted one by one; all others are counted together.
        posts: Answered at the door. FastAPI's way to a route takes longer than all that the route does.
    """

    counted: frozenset[str]
    posts: dict[str, Callable[[Request], Awaitable[Response]]]


class FrontDoor:
    """ASGI middleware.

    Args:
        app: What is inside.
        options: The token.
        metrics: Counts requests.
        paths: What is known of them.
    """

    def __init__(self, app: ASGIApp, options: ServiceOptions, metrics: ServiceMetrics, paths: KnownPaths) -> None:
        self._app, self._metrics, self._paths = app, metrics, paths
        self._token = None if options.token is None else options.token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = perf_counter(), 500
        notes: MutableMapping[str, Any] = {}
        scope[NOTES] = notes

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            refusal = self._refusal(scope)
            post = self._paths.posts.get(scope["path"]) if scope["method"] == "POST" else None
            if refusal is not None:
                await error_response(refusal)(scope, receive, noting)
            elif post is not None:
                await (await _answer(post, Request(scope, receive)))(scope, receive, noting)
            else:
                await self._app(scope, receive, noting)
        finally:
            seconds, path = perf_counter() - start, scope["path"]
            self._metrics.count_request(path if path in self._paths.counted else "other", status, seconds)
            if _log.isEnabledFor(logging.INFO):
                request = {"method": scope["method"], "path": path, "status": status, "ms": round(1e3 * seconds, 2)}
                _log.info("request", extra={"fields": {**request, **notes}})

    def _refusal(self, scope: Scope) -> ServiceError | None:
        """Why a caller may not enter. Health, the page and the description of the API are open to all."""
        if self._token is None or not is_private(scope["path"]):
            return None
        given = next((value for name, value in scope["headers"] if name == b"authorization"), None)
        if given is None or given[: len(_SCHEME)].lower() != _SCHEME:
            message = "this service needs a token; send the header 'Authorization: Bearer TOKEN'"
            return ServiceError(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})
        if not hmac.compare_digest(given[len(_SCHEME) :].strip(), self._token):
            return ServiceError(403, "forbidden", "the token is not the one of this service")
        return None


async def _answer(post: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
    try:
        return await post(request)
    except MaskerError as error:
        return await answer_error(error)


def is_private(path: str) -> bool:
    """Whether a path needs the token."""
    return path.startswith("/v1/") or path == "/metrics"
