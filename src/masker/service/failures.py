"""Errors as the service answers them: ``{"error": ..., "error_type": ...}`` and a status.

The sentences are those of the command line: a :class:`~masker.errors.MaskerError` is passed on word for word.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from masker.errors import ConfigError, DataError, MaskerError

_TYPES = {404: "not_found", 405: "method_not_allowed"}
#: Problems of one request that are named.
_SHOWN = 3
#: Seconds before a caller is refused for load. One that ignores Retry-After comes back at once, and thousands of
#: refusals a second would take the processor from the texts that were let in.
REFUSAL_DELAY = 0.1


class ServiceError(MaskerError):
    """A request that gets no answer.

    Args:
        status: The HTTP status.
        error_type: One word for programs.
        message: One sentence for people.
        headers: Further headers, such as Retry-After.
    """

    def __init__(self, status: int, error_type: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.error_type, self.headers = status, error_type, headers


def invalid(message: str) -> ServiceError:
    """A request that cannot be understood, or that this model cannot answer."""
    return ServiceError(422, "validation", message)


def too_large(message: str) -> ServiceError:
    """A request beyond a limit."""
    return ServiceError(413, "too_large", message)


def overloaded(message: str, wait: float) -> ServiceError:
    """A request that came when too many waited; ``wait`` is in seconds."""
    return ServiceError(429, "overloaded", message, {"Retry-After": str(min(60, max(1, round(wait))))})


def unavailable(error_type: str, message: str) -> ServiceError:
    """A request that came at a bad time."""
    return ServiceError(503, error_type, message, {"Retry-After": "1"})


def explain(error: ValidationError | RequestValidationError) -> str:
    """One line about what pydantic found."""
    sentences = list(dict.fromkeys(_sentence(problem) for problem in error.errors()))
    more = f"; and {len(sentences) - _SHOWN} more" if len(sentences) > _SHOWN else ""
    return "; ".join(sentences[:_SHOWN]) + more


def _sentence(problem: Any) -> str:
    # A place in a union has the name of a type in it, which says nothing to the caller.
    place = [str(part) for part in problem["loc"] if part != "body" and str(part).replace("_", "").isalnum()]
    name = ".".join(part for part in place if part not in ("str", "tuple"))
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] in ("json_invalid", "missing", "value_error") or not name:
        return f"{name}: {message}" if name else message
    if problem["type"] == "extra_forbidden":
        return f"unknown field '{name}'; leave it out"
    got = repr(problem["input"])
    return f"{name}: {message[0].lower()}{message[1:]}; got {got if len(got) <= 60 else got[:57] + '...'}"


def error_response(error: Exception) -> JSONResponse:
    """The answer for an error."""
    headers: Mapping[str, str] | None = None
    if isinstance(error, ServiceError):
        status, kind, message, headers = error.status, error.error_type, str(error), error.headers
    elif isinstance(error, (DataError, ConfigError)):
        status, kind, message = 422, "validation", str(error)
    elif isinstance(error, (ValidationError, RequestValidationError)):
        status, kind, message = 422, "validation", explain(error)
    elif isinstance(error, HTTPException):
        status, kind, message = error.status_code, _TYPES.get(error.status_code, "http"), str(error.detail)
        headers = error.headers
    elif isinstance(error, MaskerError):
        status, kind, message = 500, "model", str(error)
    else:
        status, kind, message = 500, "internal", f"unexpected {type(error).__name__}; the log of the service says more"
    return JSONResponse({"error": message, "error_type": kind}, status, dict(headers) if headers else None)


async def answer_error(error: Exception) -> JSONResponse:
    """The answer for an error, at once or, to who is refused for load, after a moment."""
    response = error_response(error)
    if response.status_code == 429:
        await asyncio.sleep(REFUSAL_DELAY)
    return response


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error of an app in this form."""

    async def answer(request: Request, error: Exception) -> JSONResponse:
        return await answer_error(error)

    for kind in (MaskerError, ValidationError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)
