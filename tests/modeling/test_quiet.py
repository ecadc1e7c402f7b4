"""transformers is silenced inside, and as before outside."""

from __future__ import annotations

import logging as stdlib_logging

import pytest
from transformers.utils import logging

from masker.modeling.quiet import quiet_transformers


@pytest.fixture(autouse=True)
def _restored():
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    yield
    logging.set_verbosity(verbosity)
    (logging.enable_progress_bar if bars else logging.disable_progress_bar)()


@pytest.mark.parametrize("bars", [True, False])
def test_what_was_set_comes_back(bars):
    logging.set_verbosity_info()
    (logging.enable_progress_bar if bars else logging.disable_progress_bar)()
    with quiet_transformers():
        assert logging.get_verbosity() == logging.ERROR
        assert not logging.is_progress_bar_enabled()
    assert logging.get_verbosity() == logging.INFO
    assert logging.is_progress_bar_enabled() is bars


def test_even_after_an_error():
    logging.set_verbosity_warning()
    logging.enable_progress_bar()
    with pytest.raises(OSError, match="no such model"), quiet_transformers():
        raise OSError("no such model")
    assert logging.get_verbosity() == logging.WARNING
    assert logging.is_progress_bar_enabled()


def test_warnings_are_swallowed_and_errors_are_not(monkeypatch, caplog):
    logging.set_verbosity_warning()
    monkeypatch.setattr(stdlib_logging.getLogger("transformers"), "propagate", True)
    logger = logging.get_logger("transformers.of_this_test")
    with quiet_transformers():
        logger.warning("head is newly initialized")
        logger.error("broken")
    logger.warning("after")
    assert list(dict.fromkeys(caplog.messages)) == ["broken", "after"], "whichever handlers are installed"
