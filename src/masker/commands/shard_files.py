"""The files of a sharded prediction: inputs, outputs, and a record of what each output was made from.

::

    DATA/2024/part-0.parquet  ->  OUTPUT/2024/part-0.jsonl
                                  OUTPUT/_origin/2024/part-0.jsonl.json   model, input and options it was made from

Arrow and Spark ignore names that start with an underscore when they read a folder.
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
    """One input file, and the name of its output relative to the output folder."""

    source: str
    name: str


def find_shards(data: str, output: Path, form: str) -> list[Shard]:
    """Find the shards in a folder, recursively, or those that match a pattern such as ``logs/**/*.csv``.

    Files in the output folder are not inputs. ``form`` is the extension of the output files.
    """
    files, root = _find_files(data, output)
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
        raise DataError(f"'{data}': no shards found; supported files: {known} (text formats may be gzipped)")
    return list(shards.values())


def _find_files(data: str, output: Path) -> tuple[list[Path], Path]:
    """The candidate files in order, and the folder that their names are relative to."""
    root = Path(data).expanduser().absolute()  # workers have other working folders
    if root.is_dir():
        if root.resolve() == output.resolve():
            raise ConfigError(f"--output '{output}' is also the input folder; choose another one")
        inside = sorted(root.rglob("*"))
        return [path for path in inside if path.is_file() and table_format(path) in TABLE_FORMATS], root
    if glob.has_magic(data):
        files = [Path(name) for name in sorted(glob.glob(str(root), recursive=True)) if os.path.isfile(name)]
        unknown = [str(path) for path in files if table_format(path) is None]
        if unknown:
            raise DataError(f"{unknown[0]}: not a supported table format; use a narrower pattern")
        return files, Path(*takewhile(lambda part: not glob.has_magic(part), root.parts))
    if root.is_file():
        raise ConfigError(f"--engine takes a folder or a pattern; got the file '{data}'; omit --engine")
    raise DataError(f"'{data}': no such folder; give a folder of shards, or a pattern in quotes")


def origin_path(output: Path, name: str) -> Path:
    """Where the record of an output shard is."""
    return output / ORIGIN_FOLDER / f"{name}.json"


def finished_rows(output: Path, name: str, made_from: dict[str, Any]) -> int | None:
    """Rows of an output shard that was made from exactly this; ``None`` when it has to be made (again)."""
    try:
        record = json.loads(origin_path(output, name).read_text(encoding="utf-8"))
        whole = (output / name).stat().st_size == record["bytes"]
        return int(record["rows"]) if whole and record["made_from"] == made_from else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def forget_origin(output: Path, name: str) -> bool:
    """Remove the record before its shard is replaced, so it never vouches for another; return whether it existed."""
    path = origin_path(output, name)
    existed = path.is_file()
    path.unlink(missing_ok=True)
    return existed


def write_origin(output: Path, shard: Shard, made_from: dict[str, Any], rows: int, provenance: dict[str, Any]) -> None:
    """Write the record of an output shard."""
    record = {
        "format": FORMAT,
        "rows": rows,
        "bytes": (output / shard.name).stat().st_size,
        "input": shard.source,
        "made_from": made_from,
        "provenance": provenance,
    }
    write_json(origin_path(output, shard.name), record)
