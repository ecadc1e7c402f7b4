"""The files of a sharded prediction: which go in, what comes out of each, and the record of where that came from.

::

    DATA/2024/part-0.parquet  ->  OUTPUT/2024/part-0.jsonl
                                  OUTPUT/_origin/2024/part-0.jsonl.json   model, input and options it came from

Readers of folders (Arrow, Spark) pass over names that begin with an underscore.
"""

from __future__ import annotations

import glob
import json
import os
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from masker.documents.file_formats import TABLE_FORMATS, table_format
from masker.errors import ConfigError, DataError
from masker.files import write_json

ORIGIN_FOLDER = "_origin"
FORMAT = 1


@dataclass(frozen=True)
class Shard:
    """One input file and the name of what it becomes, relative to the output folder."""

    source: str
    name: str


def find_shards(data: str, output: Path, form: str) -> list[Shard]:
    """The shards of a folder, or those that a pattern such as ``logs/**/*.csv`` names.

    Args:
        data: A folder, which is searched with all that lies in it, or a pattern.
        output: The output folder; what lies in it is no input.
        form: Ending of the output files.

    Raises:
        DataError: When there is no such folder or no shard.
        ConfigError: When two shards would have the same output, or the output is the input.
    """
    root = Path(data).expanduser().absolute()  # workers stand in other folders
    if root.is_dir():
        if root.resolve() == output.resolve():
            raise ConfigError(f"--output '{output}' is the folder that is read; choose another one")
        files = [path for path in sorted(root.rglob("*")) if path.is_file() and table_format(path) in TABLE_FORMATS]
    elif glob.has_magic(data):
        files = [Path(name) for name in sorted(glob.glob(str(root), recursive=True)) if os.path.isfile(name)]
        root = Path(*takewhile(lambda part: not glob.has_magic(part), root.parts))
        unknown = [str(path) for path in files if table_format(path) is None]
        if unknown:
            raise DataError(f"{unknown[0]}: is no table that can be read; make the pattern narrower")
    elif root.is_file():
        raise ConfigError(f"--engine takes a folder or a pattern; got the file '{data}': leave --engine out")
    else:
        raise DataError(f"'{data}': there is no such folder; give a folder of shards, or a pattern in quotes")
    shards: dict[str, Shard] = {}
    for path in files:
        relative = path.relative_to(root)
        if any(part[0] in "._" for part in relative.parts) or output.resolve() in path.resolve().parents:
            continue
        ending = len(str(table_format(path))) + (3 if path.suffix.lower() == ".gz" else 0)
        name = f"{relative.as_posix()[:-ending]}.{form}"
        if name in shards:
            raise ConfigError(f"'{path}' and '{shards[name].source}' would both become {name}; rename one of them")
        shards[name] = Shard(str(path), name)
    if not shards:
        known = ", ".join(TABLE_FORMATS)
        raise DataError(f"'{data}': has no shards; put {known} files there (text files may be gzipped)")
    return list(shards.values())


def origin_path(output: Path, name: str) -> Path:
    """Where the record of an output shard lies."""
    return output / ORIGIN_FOLDER / f"{name}.json"


def finished_rows(output: Path, name: str, made_from: dict[str, Any]) -> int | None:
    """The rows of an output shard that was made from just this, or ``None`` when it has to be made (again)."""
    try:
        record = json.loads(origin_path(output, name).read_text(encoding="utf-8"))
        whole = (output / name).stat().st_size == record["bytes"]
        return int(record["rows"]) if whole and record["made_from"] == made_from else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def forget_origin(output: Path, name: str) -> bool:
    """Remove the record before its shard is replaced, so that it never vouches for another; tell if there was one."""
    path = origin_path(output, name)
    existed = path.is_file()
    path.unlink(missing_ok=True)
    return existed


def write_origin(output: Path, shard: Shard, made_from: dict[str, Any], rows: int, provenance: dict[str, Any]) -> None:
    """Write the record of an output shard, whole or not at all."""
    path = origin_path(output, shard.name)
    record = {
        "format": FORMAT,
        "rows": rows,
        "bytes": (output / shard.name).stat().st_size,
        "input": shard.source,
        "made_from": made_from,
        "provenance": provenance,
    }
    write_json(path, record)
