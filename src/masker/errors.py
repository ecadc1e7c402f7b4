"""The errors a user may see: one line each, saying what is wrong and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MaskerError(Exception):
    """Base of every error this package raises on purpose; the command line prints it and exits with code 2."""


class ConfigError(MaskerError):
    """A setting is unknown, out of range, or contradicts another one."""


class DataError(MaskerError):
    """A file, column, label or corpus cannot be used."""


class NoRowsError(DataError):
    """A readable source has no rows, or none that match the filter; one file of many may well have none."""


class ModelError(MaskerError):
    """A backbone or model folder is missing, damaged, unsafe or of the wrong kind."""


class MissingPackageError(MaskerError):
    """An optional package is not installed; says which extra brings it."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` if a known word is close to ``word``, else an empty string."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean '{close[0]}'?" if close else ""
