"""Files written whole or not at all, and their fingerprints."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder; it takes the name ``path`` when the block ends without an error."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files that only their owner may read.
        temporary.chmod(0o644)
        os.replace(temporary, target)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_writer(path: str | Path, *, newline: str | None = None) -> Iterator[IO[str]]:
    """Open a UTF-8 text file that appears under its name only once it is whole."""
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline=newline) as file:
        yield file


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with atomic_writer(path) as file:
        file.write(text)


def write_json(path: str | Path, content: Any) -> None:
    """Write readable JSON, whole or not at all."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty temporary folder that takes the place of ``folder`` when the block ends without an error.

    A folder of that name is put back if the swap fails, and removed once it has succeeded.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        temporary.chmod(0o755)
        yield temporary
        _swap(temporary, folder)
    finally:
        if temporary.exists():
            shutil.rmtree(temporary, ignore_errors=True)


def _swap(new: Path, folder: Path) -> None:
    if not folder.is_dir():
        os.replace(new, folder)
        return
    old = new.with_name(f"{new.name}.old")
    os.replace(folder, old)
    try:
        os.replace(new, folder)
    except BaseException:
        os.replace(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def file_sha256(*files: Path) -> str:
    """Fingerprint of the content of files, in this order."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def folder_sha256(folder: str | Path) -> str:
    """Fingerprint of a folder: names and contents of all its files."""
    root = Path(folder).expanduser()
    lines = [f"{path.relative_to(root).as_posix()} {file_sha256(path)}" for path in root.rglob("*") if path.is_file()]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
