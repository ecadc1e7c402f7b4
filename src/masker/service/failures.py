"""Errors as the service answers them: ``{"error": ..., "error_type": ...}`` and a status.

The sentences are those of the command line: a :class:`~masker.errors.MaskerError` is passed on word for word.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from masker.errors import ConfigError, DataError, MaskerError

_log = logging.getLogger("masker")

_TYPES = {404: "not_found", 405: "method_not_allowed", 408: "timeout", 413: "too_large", 422: "validation"}


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
    """A request that cannot be understood."""
    return ServiceError(422, "validation", message)


def too_large(message: str) -> ServiceError:
    """A request beyond a limit."""
    return ServiceError(413, "too_large", message)


def explain(error: ValidationError | RequestValidationError) -> str:
    """One line about everything that pydantic found."""
    return "; ".join(dict.fromkeys(_sentence(problem) for problem in error.errors()))


def _sentence(problem: Any) -> str:
    name = ".".join(str(part) for part in problem["loc"] if part != "body")
    message = str(problem["msg"]).removeprefix("Value error, ")
    return f"{name}: {message[0].lower()}{message[1:]}" if name else message


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
        status, kind, message = 500, "internal", f"unexpected {type(error).__name__}; the service's log has more"
    return JSONResponse({"error": message, "error_type": kind}, status, dict(headers) if headers else None)


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error of an app in this form."""

    async def expected(request: Request, error: Exception) -> JSONResponse:
        return error_response(error)

    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        _log.error("a request failed", exc_info=error)
        return error_response(error)

    for kind in (MaskerError, ValidationError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, expected)
    app.add_exception_handler(Exception, unexpected)
