"""Texts of a source, some at a time, for commands that need no labels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from masker.config import DataSettings
from masker.documents import stream_rows
from masker.documents.texts import Text, in_chunks


def text_chunks(source: str, settings: DataSettings) -> Iterator[list[Text]]:
    """The texts of a source in chunks; blank ones are left out, as there is nothing to group or to label in them."""
    filled = (row for row in stream_rows(source, settings) if row.text.strip())
    return in_chunks(row.content for row in islice(filled, settings.limit))
