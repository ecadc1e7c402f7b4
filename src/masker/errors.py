"""The errors a user may see. Each carries one line that says what is wrong and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MaskerError(Exception):
    """Base of every error this package raises on purpose; the command line prints it as one line and exits 2."""


class ConfigError(MaskerError):
    """A setting is unknown, out of range, or contradicts another one."""


class DataError(MaskerError):
    """A file, a column, a label or a corpus cannot be used as it is."""


class NoRowsError(DataError):
    """A source that is in order has no row, or none that was asked for; one file of many may well be so."""


class ModelError(MaskerError):
    """A backbone or a model folder is missing, damaged, unsafe or of the wrong kind."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` when a known word is close to ``word``, else an empty string."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean '{close[0]}'?" if close else ""
