"""Documents from any source: a file, standard input, a corpus by name, a folder or a hub data set."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from masker.config import DataSettings, Head
from masker.corpora import corpus_path_or_none, list_corpora
from masker.documents.columns import ChooseColumns, Record, find_columns
from masker.documents.document_set import Documents
from masker.documents.file_formats import read_file, read_stdin, table_format
from masker.documents.filters import columns_to_filter, describe_where, matching_records
from masker.documents.hub_datasets import folder_records, hub_records
from masker.documents.rows import Row, collect_documents, records_to_rows
from masker.errors import DataError, did_you_mean

_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")


def read_documents(
    source: str | Path, settings: DataSettings, *, require_labels: bool | None, head: Head = "multi-class"
) -> Documents:
    """Read a whole source into memory and validate it; see :func:`stream_rows` and :func:`collect_documents`."""
    rows = stream_rows(source, settings, require_labels=require_labels, head=head)
    name = _display_name(source) + describe_where(settings.where)
    return collect_documents(rows, settings, name=name, require_labels=require_labels, head=head)


def stream_rows(
    source: str | Path,
    settings: DataSettings,
    *,
    require_labels: bool | None = False,
    every_value: bool = True,
    label_role: str = "label",
    head: Head = "multi-class",
) -> Iterator[Row]:
    """Read rows one by one. Texts may be empty; ``limit`` and ``skip_invalid`` are up to the caller.

    Args:
        source: A file; ``-`` for standard input (JSON Lines or one text per line); a corpus as ``name`` or
            ``name:split``; a folder or hub id, also with ``:split``. A file takes precedence over a corpus of the same
            name, and a corpus over a folder (write ``./name`` for the folder). A missing file is refused at once, a
            damaged or unreachable source while reading.
        require_labels: Whether a missing label column is an error; ``None``: if the settings name it.
        every_value: Whether each value of ``where`` must occur; one file of many may lack some.
        label_role: What the label column holds; ``time`` makes an error ask for ``--time-column``.
        head: What the labels are for; a multi-label head takes a column of lists first.
    """
    name, where = _display_name(source), settings.where or {}
    find = partial(
        find_columns, source=name, settings=settings, require_labels=require_labels, label_role=label_role, head=head
    )

    def choose(names: Sequence[str]) -> list[str]:
        columns = [*find(names), *columns_to_filter(names, where, name)]
        return list(dict.fromkeys(column for column in columns if column is not None))

    records = _open_source(str(source), settings.encoding, choose)
    matching = matching_records(records, where, name, every_value=every_value) if where else records
    return records_to_rows(matching, find, name, lists={"multi-label": True, "regression": False}.get(head))


def short_name(source: str) -> str:
    """The name of a source, or of its documents, without folders and file endings: for headings."""
    found = re.fullmatch(r"(.*?)(?:\.(?:csv|tsv|jsonl|ndjson|json|txt|parquet))?(?:\.gz)?( \(.*\))?", source, re.DOTALL)
    assert found is not None  # the pattern matches anything
    return Path(found[1]).name + (found[2] or "")


def _display_name(source: str | Path) -> str:
    return "standard input" if str(source) == "-" else str(source)


def _open_source(source: str, encoding: str, choose: ChooseColumns) -> Iterator[Record]:
    if source == "-":
        return read_stdin(encoding, _display_name(source))
    path = Path(source).expanduser()
    if os.path.isfile(path):
        return read_file(path, encoding, choose)
    known = [entry.name for entry in path.parent.iterdir()] if os.path.isdir(path.parent) else []
    missing = f"{source!r}: there is no such file or folder; check the path.{did_you_mean(path.name, known)}"
    if (table_format(path) or path.suffix.lower() == ".gz") and not os.path.isdir(path):
        raise DataError(missing)
    corpus = corpus_path_or_none(source)
    if corpus is not None:
        return read_file(corpus, "utf-8", choose)
    base, colon, split = source.rpartition(":")
    if not colon or (source and os.path.isdir(path)):
        base, split = source, ""
    folder = os.path.expanduser(base)
    if os.path.isdir(folder):
        return folder_records(folder, split or None, choose)
    if not _HUB_ID.fullmatch(base):
        raise DataError(missing)
    hint = did_you_mean(Path(base).name, [*known, *(info.name for info in list_corpora())])
    return hub_records(base, split or None, choose, hint)
