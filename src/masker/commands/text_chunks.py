"""Texts of a source, some at a time, for commands that need no labels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from masker.config import DataSettings
from masker.documents import stream_rows
from masker.documents.texts import Text
from masker.model import STREAM_CHUNK


def text_chunks(source: str, settings: DataSettings) -> Iterator[list[Text]]:
    """The texts of a source in chunks; blank ones are left out, as there is nothing to group or to label in them."""
    filled = (row for row in stream_rows(source, settings) if row.text.strip())
    texts = (row.text if row.pair is None else (row.text, row.pair) for row in islice(filled, settings.limit))
    while chunk := list(islice(texts, STREAM_CHUNK)):
        yield chunk
