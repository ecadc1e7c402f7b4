"""Logs as JSON lines on stderr."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, event, and what the message adds as ``extra={"fields": {...}}``."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": moment, "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def log_settings(level: str = "info") -> dict[str, Any]:
    """For :func:`logging.config.dictConfig`: masker and uvicorn write JSON lines, others keep to warnings."""
    ours = {"handlers": ["lines"], "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": f"{__name__}.{JsonLines.__name__}"}},
        "handlers": {"lines": {"class": "logging.StreamHandler", "formatter": "lines", "stream": "ext://sys.stderr"}},
        "loggers": {
            "masker": {**ours, "level": level.upper()},
            # uvicorn says at length what we say in a line.
            "uvicorn": {**ours, "level": "WARNING"},
        },
        "root": {"handlers": ["lines"], "level": "WARNING"},
    }
