"""The cache of fetched corpora: ``NAME.SPLIT.jsonl.gz`` files and, beside them, a record of where they came from.

The record holds the sha256 of each file, which is checked before the file is read. It is written last and taken away
first, so an interrupted fetch leaves a corpus that counts as absent, never a half one.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from masker.corpora.corpus_rows import Parts, shuffled
from masker.corpora.packages import cache_folder
from masker.errors import DataError
from masker.files import file_sha256


def corpora_folder() -> Path:
    """Where fetched corpora are kept."""
    return cache_folder() / "corpora"


def cached_record(name: str) -> dict[str, Any] | None:
    """What is known about a cached corpus, or None when it is not (wholly) in the cache.

    Returns:
        ``{"origin": str, "files": {split: {"sha256": str, "rows": int}}}``
    """
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
    """The file of one split, after a check that it is what was stored.

    Raises:
        DataError: If it is not; the line says how to renew it.
    """
    record = cached_record(name)
    path = _file(name, split)
    if record is None or split not in record["files"]:
        raise DataError(f"{path}: is not in the cache; run `masker data fetch {name} --renew`")
    if file_sha256(path) != record["files"][split]["sha256"]:
        raise DataError(
            f"{path}: is damaged (its sha256 is not the one recorded when it was fetched); "
            f"run `masker data fetch {name} --renew` to fetch it again"
        )
    return path


def store_corpus(name: str, parts: Parts, origin: str) -> None:
    """Write the splits of a corpus, in shuffled order, and the record of what was written.

    Raises:
        DataError: If the cache cannot be written.
    """
    folder = corpora_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as temporary:
            files: dict[str, dict[str, Any]] = {}
            for split, rows in parts.items():
                part = Path(temporary) / _file(name, split).name
                # Neither a time nor a name in the header: the same corpus is the same file everywhere.
                with open(part, "wb") as handle, gzip.GzipFile("", "wb", fileobj=handle, mtime=0) as packed:
                    # Sources order rows by class; shuffled, the first so many rows are a fair sample.
                    for row in shuffled(rows):
                        packed.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
                files[split] = {"sha256": file_sha256(part), "rows": len(rows)}
            record = Path(temporary) / "record"
            record.write_text(json.dumps({"origin": origin, "files": files}, indent=1), encoding="utf-8")
            _record_file(name).unlink(missing_ok=True)
            for split in parts:
                os.replace(Path(temporary) / _file(name, split).name, _file(name, split))
            os.replace(record, _record_file(name))
    except OSError as error:
        raise DataError(
            f"{folder}: cannot be written ({error.strerror or error}); point MASKER_CACHE to a folder with space"
        ) from error


def _file(name: str, split: str) -> Path:
    return corpora_folder() / f"{name}.{split}.jsonl.gz"


def _record_file(name: str) -> Path:
    return corpora_folder() / f"{name}.source.json"
