"""Atomic writes, so that a file is complete or absent, and sha256 checksums."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder, which is renamed to ``path`` if the block succeeds."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp creates files that only their owner may read.
        temporary.chmod(0o644)
        os.replace(temporary, target)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_writer(path: str | Path, *, newline: str | None = None) -> Iterator[IO[str]]:
    """Open a UTF-8 text file that appears under its name only once it is complete."""
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline=newline) as file:
        yield file


def write_text(path: str | Path, text: str) -> None:
    """Write a UTF-8 text file atomically."""
    with atomic_writer(path) as file:
        file.write(text)


def write_json(path: str | Path, content: Any) -> None:
    """Write indented JSON atomically."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


@contextmanager
def atomic_folder(folder: Path, *, keep_existing: bool = False) -> Iterator[Path]:
    """Yield an empty temporary folder, which takes the place of ``folder`` if the block succeeds.

    An existing folder is restored if the swap fails and deleted if it succeeds. With ``keep_existing``, a folder that
    another process has finished in the meantime stays and the temporary one is discarded.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        temporary.chmod(0o755)
        yield temporary
        _swap(temporary, folder, keep_existing)
    finally:
        if temporary.exists():
            shutil.rmtree(temporary, ignore_errors=True)


def _swap(new: Path, folder: Path, keep_existing: bool) -> None:
    if keep_existing or not folder.is_dir():
        try:
            os.replace(new, folder)
        except OSError:
            if not (keep_existing and folder.is_dir()):
                raise
        return
    if _exchanged(new, folder):
        shutil.rmtree(new, ignore_errors=True)
        return
    old = new.with_name(f"{new.name}.old")
    os.replace(folder, old)
    try:
        os.replace(new, folder)
    except BaseException:
        os.replace(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Let two folders swap names in one step, so that no moment is without either; False where the system cannot.

    A process that is killed between two renames would leave nothing under the name.
    """
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)  # Python has no function for it
    if rename is None:
        return False
    here, exchange = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of <fcntl.h> and <linux/fs.h>
    return bool(rename(here, os.fsencode(one.absolute()), here, os.fsencode(other.absolute()), exchange) == 0)


def file_sha256(*files: Path) -> str:
    """The checksum of the contents of files, in the given order."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def folder_sha256(folder: str | Path) -> str:
    """The checksum of a folder: names and contents of all files in it."""
    root = Path(folder).expanduser()
    lines = [f"{path.relative_to(root).as_posix()} {file_sha256(path)}" for path in root.rglob("*") if path.is_file()]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
