"""The cache of fetched corpora: ``NAME.SPLIT.jsonl.gz`` files and, for each corpus, a record of their origin.

The record holds the sha256 of each file, which is checked before the file is read. It is deleted first and written
last, so an interrupted fetch leaves the corpus absent, never incomplete.
"""

from __future__ import annotations

import gzip
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from masker.corpora.corpus_rows import Parts, shuffled
from masker.corpora.packages import cache_folder
from masker.errors import DataError
from masker.files import atomic_path, file_sha256, write_json


def corpora_folder() -> Path:
    """The folder of fetched corpora."""
    return cache_folder() / "corpora"


def cached_record(name: str) -> dict[str, Any] | None:
    """``{"origin": str, "files": {split: {"sha256": str, "rows": int}}}``; ``None`` unless the cache has all files."""
    try:
        record = json.loads(_record_file(name).read_text(encoding="utf-8"))
        files = {split: {"sha256": str(f["sha256"]), "rows": int(f["rows"])} for split, f in record["files"].items()}
        origin = str(record["origin"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if not files or not all(_file(name, split).is_file() for split in files):
        return None
    return {"origin": origin, "files": files}


def cached_file(name: str, split: str) -> Path:
    """The file of one split, its checksum verified."""
    record = cached_record(name)
    path = _file(name, split)
    if record is None or split not in record["files"]:
        raise DataError(f"{path}: is not in the cache; run `masker data fetch {name} --renew`")
    if file_sha256(path) != record["files"][split]["sha256"]:
        raise DataError(
            f"{path}: is damaged (its sha256 differs from the recorded one); "
            f"run `masker data fetch {name} --renew` to fetch it again"
        )
    return path


def store_corpus(name: str, parts: Parts, origin: str) -> None:
    """Write the splits of a corpus, shuffled, and their record."""
    files: dict[str, dict[str, Any]] = {}
    try:
        with ExitStack() as renames:
            for split, rows in parts.items():
                part = renames.enter_context(atomic_path(_file(name, split)))
                # No time or name in the header, so that the same corpus gives the same bytes everywhere.
                with open(part, "wb") as handle, gzip.GzipFile("", "wb", fileobj=handle, mtime=0) as packed:
                    # Sources order rows by class; shuffled, the first rows are a fair sample.
                    for row in shuffled(rows):
                        packed.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
                files[split] = {"sha256": file_sha256(part), "rows": len(rows)}
            _record_file(name).unlink(missing_ok=True)
        write_json(_record_file(name), {"origin": origin, "files": files})
    except OSError as error:
        raise DataError(
            f"{corpora_folder()}: cannot be written ({error.strerror or error}); "
            "point MASKER_CACHE to a writable folder with enough space"
        ) from error


def _file(name: str, split: str) -> Path:
    return corpora_folder() / f"{name}.{split}.jsonl.gz"


def _record_file(name: str) -> Path:
    return corpora_folder() / f"{name}.source.json"
