"""Logs are lines of JSON."""

from __future__ import annotations

import json
import logging
import logging.config
import sys

import pytest

from masker.service.request_log import JsonLines, log_settings


def test_a_record_is_one_object_on_one_line():
    record = logging.LogRecord("masker", logging.WARNING, "", 0, "a %s\nevent", ("long",), None)
    record.fields = {"path": "/ü", "status": 200}
    line = JsonLines().format(record)
    assert "\n" not in line
    found = json.loads(line)
    assert found.pop("time").endswith("+00:00")
    assert found == {"level": "warning", "event": "a long\nevent", "path": "/ü", "status": 200}


def test_a_traceback_stays_on_the_line():
    try:
        raise ValueError("no")
    except ValueError:
        record = logging.LogRecord("masker", logging.ERROR, "", 0, "failed", (), sys.exc_info())
    line = JsonLines().format(record)
    assert "\n" not in line and "ValueError: no" in json.loads(line)["traceback"]


@pytest.fixture
def loggers():
    """Loggers as they were before."""
    names = ("masker", "uvicorn", "")
    before = {name: (list(logging.getLogger(name).handlers), logging.getLogger(name).level) for name in names}
    propagates = logging.getLogger("masker").propagate
    yield
    for name, (handlers, level) in before.items():
        logging.getLogger(name).handlers, logging.getLogger(name).level = handlers, level
    logging.getLogger("masker").propagate = propagates
    logging.getLogger("uvicorn").propagate = True


def test_requests_are_logged_at_level_info_only(loggers, capsys):
    for level, expected in (("info", 2), ("warning", 1)):
        logging.config.dictConfig(log_settings(level))
        logging.getLogger("masker.requests").info("request")
        logging.getLogger("masker").error("problem")
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == expected and all(json.loads(line) for line in lines)
