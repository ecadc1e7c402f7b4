"""Finished stages in one file, so that a long run can go on on another machine.

A stage's id says all that its result depends on, so a result is as good here as where it was computed. The file has
the records of stages, one JSON object a line, compressed; models are not in it, nor are keyword stages, whose result is
a file of its own: what still needs them makes them anew. It is written sorted and without a date, so the same stages
give the same bytes.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from masker.errors import DataError
from masker.experiments.stages import RESULT, stage_folder
from masker.files import atomic_path, write_json

#: What :func:`~masker.experiments.stages.make_stage` gives. The id becomes the name of a folder.
_ID = re.compile(r"[0-9a-f]{20}")


def pack_stages(output: Path, file: Path) -> int:
    """Write the finished stages of a folder to a file, beside those that it has already; how many it has then."""
    records = {record["id"]: record for record in _read(file)} if file.exists() else {}
    for path in sorted(output.glob(f"stages/*/{RESULT}")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["kind"] != "keywords" and path.parent.name == record["id"]:  # not a stage that is still at work
            records[record["id"]] = record
    lines = "".join(json.dumps(records[name], ensure_ascii=False) + "\n" for name in sorted(records))
    with atomic_path(file) as temporary:
        temporary.write_bytes(gzip.compress(lines.encode(), mtime=0))
    return len(records)


def unpack_stages(file: Path, output: Path) -> int:
    """Put the stages of a file into a folder, but for those that it has; how many were put there."""
    added = 0
    for record in _read(file):
        target = stage_folder(output, record["id"]) / RESULT
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            write_json(target, record)
            added += 1
    return added


def archived_stages(file: Path) -> set[str]:
    """The ids of the stages in a file; none if there is no such file."""
    return {record["id"] for record in _read(file)} if file.exists() else set()


def _read(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                record = json.loads(line)
                if not isinstance(record, dict) or not _ID.fullmatch(str(record.get("id"))):
                    raise DataError(f"'{file}', line {number}, is not the record of a stage")
                yield record
    except (EOFError, OSError, ValueError) as error:
        raise DataError(
            f"'{file}' is no archive of stages ({error}); give a file that 'masker reproduce --stages' wrote"
        ) from None
