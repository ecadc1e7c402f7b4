"""The work folder of a training run: what an interrupted run resumes from, and the check that it may."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from masker import distributed
from masker.config import Settings
from masker.documents import Documents
from masker.errors import ConfigError, MaskerError
from masker.files import write_text

_log = logging.getLogger("masker")

#: Holds the fingerprint of the data and settings that the folder belongs to.
_MARK = "run.sha256"


@contextmanager
def work_folder(work: Path, documents: Documents, settings: Settings, *, restart: bool = False) -> Iterator[None]:
    """Hold the work folder for one run: nobody else trains in it meanwhile, and what it holds belongs to this run.

    Under a launcher all processes enter; the first one checks and locks. On several machines the folder must be on
    shared storage. ``restart`` discards an unfinished run.

    Raises:
        ConfigError: When another process trains in it, or it holds an unfinished run with other data or settings.
    """
    lock = _lock(work)

    def claim() -> str:
        work.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise ConfigError(
                f"another process is training in '{work}'; wait for it, or choose another --output"
            ) from None
        _open(work, _identity(documents, settings), restart)
        return str(work)

    try:
        distributed.first_only(claim)  # a folder that is refused here belongs to another run: it stays
        try:
            yield
        except MaskerError:
            # Refused before any training: leave nothing behind.
            if distributed.is_first() and not _has_stages(work):
                shutil.rmtree(work)
            raise
    finally:
        _release(lock)


def remove_work_folder(work: Path) -> None:
    """Remove the work folder of a finished run, unless another process has taken it over."""
    lock = _lock(work)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return
    try:
        shutil.rmtree(work, ignore_errors=True)
    finally:
        _release(lock)


def _lock(work: Path) -> FileLock:
    return FileLock(work.absolute().with_name(f".{work.name}.lock"))


def _release(lock: FileLock) -> None:
    if lock.is_locked:
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


def _identity(documents: Documents, settings: Settings) -> str:
    content = json.dumps([documents.fingerprint(), settings.model_dump()], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _has_stages(work: Path) -> bool:
    """Whether any training was done: every stage has a folder, perhaps in a fold's, and leaves files in it."""
    return any(path.is_file() for entry in work.iterdir() if entry.is_dir() for path in entry.rglob("*"))


def _open(work: Path, identity: str, restart: bool) -> None:
    mark = work / _MARK
    # A run that was killed before it left its mark has nothing to lose either.
    if work.is_dir() and (restart or not (mark.is_file() or _has_stages(work))):
        shutil.rmtree(work)
    if work.exists():
        if not mark.is_file() or mark.read_text() != identity:
            raise ConfigError(
                f"'{work}' holds an unfinished run with other data or settings; repeat that command to finish it, "
                "pass --restart to discard it, or choose another --output"
            )
        _log.info("resuming the unfinished run in %s", work)
        return
    work.mkdir(parents=True)
    write_text(mark, identity)
