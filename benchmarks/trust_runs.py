"""Commands in forked processes that are killed: after some time, or at a chosen one of their writes.

The parent has imported what commands need and has computed nothing, so a fork is a process like any other that did not
have to wait for its imports.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Audit events that change files, by where their arguments name a path.
_CHANGES = {"os.rename": (0, 1), "os.remove": (0,), "os.rmdir": (0,), "os.mkdir": (0,), "os.truncate": (0,)}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
TENSORS = "masker.safetensors"
#: What differs between two runs that made the same: times, and the name of the tensor file of a calibration.
_TIMES = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\+\d\d:\d\d|Z| UTC)?)?|\"(\w+_)?(seconds|took)\": ?[\d.]+"
    r"|\"tensors\": ?\"masker\.[0-9a-f]{12}\.safetensors\",?"
)
#: What temporary names and numbers are shortened to, so that like writes have one name.
_SHORTENED = (
    (r"\.([^/]+?)\.(?:[a-z0-9_]{8}|[0-9a-f]{12})(?=/|$|\.old)", r".\1.*"),
    (r"masker\.[0-9a-f]{12}\.", "masker.*."),
    (r"\d+", "N"),
)


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int  # negative: the signal that ended it
    stderr: str
    seconds: float
    writes: list[str]

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL

    @property
    def last_line(self) -> str:
        lines = [line for line in re.split(r"[\r\n]", self.stderr) if line.strip()]
        return lines[-1] if lines else ""


def import_all() -> None:
    """Import what commands import, so that forks need not."""
    import accelerate  # noqa: F401
    import sklearn.linear_model  # noqa: F401
    import transformers

    import masker.commands.calibrate
    import masker.commands.export
    import masker.commands.predict
    import masker.commands.train
    import masker.detection.training_and_calibration
    import masker.export
    import masker.training.run  # noqa: F401

    transformers.AutoModelForSequenceClassification, transformers.BertModel, transformers.Trainer  # noqa: B018


def start(arguments: Sequence[str], watched: Path, *, at_write: int | None = None) -> tuple[int, Path]:
    """Fork a ``masker`` command that kills itself before its ``at_write``-th change of a file in ``watched``."""
    log = watched.parent / f"{watched.name}.log"
    pid = os.fork()
    if pid:
        return pid, log
    code = 70
    try:
        code = _command(arguments, watched, log, at_write)
    finally:
        os._exit(code)


def _command(arguments: Sequence[str], watched: Path, log: Path, at_write: int | None) -> int:
    from masker.cli import main

    for number, name in ((1, f"{log}.out"), (2, str(log))):
        file = os.open(name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | (os.O_APPEND if number == 2 else 0))
        os.dup2(file, number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, encoding="utf-8") for number in (1, 2))
    _watch_writes(watched, Path(f"{log}.writes"), at_write)
    sys.argv = ["masker", *arguments]
    try:
        main()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _watch_writes(watched: Path, log: Path, at_write: int | None) -> None:
    """Note every change of a file in a folder, and kill this process before one of them."""
    root = f"{watched}{os.sep}"
    noted = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_APPEND)
    count = 0
    here = threading.local()

    def hook(event: str, values: tuple[Any, ...]) -> None:
        nonlocal count
        if event == "open":
            path, _, flags = values
            if not isinstance(flags, int) or not flags & _WRITING:
                return
        elif event in _CHANGES:
            path = values[_CHANGES[event][-1]]
        else:
            return
        if getattr(here, "busy", False) or not isinstance(path, (str, bytes, os.PathLike)):
            return
        name = os.path.abspath(os.fsdecode(path))
        if not name.startswith(root):
            return
        here.busy = True
        os.write(noted, f"{event.rpartition('.')[2]} {name[len(root) :]}\n".encode())
        here.busy = False
        count += 1
        if count == at_write:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def finish(pid: int, log: Path, since: float, *, kill_after: float | None = None) -> Ended:
    """Wait for a command, and kill it after some seconds if it still runs."""
    code = None
    while code is None:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
        elif kill_after is not None and time.monotonic() - since > kill_after:
            os.kill(pid, signal.SIGKILL)
            kill_after = None
        else:
            time.sleep(0.002)
    writes = Path(f"{log}.writes").read_text(encoding="utf-8").splitlines() if Path(f"{log}.writes").exists() else []
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return Ended(code, text, time.monotonic() - since, writes)


def run(
    arguments: Sequence[str], watched: Path, *, at_write: int | None = None, kill_after: float | None = None
) -> Ended:
    """One ``masker`` command from start to end, however it ends."""
    since = time.monotonic()
    pid, log = start(arguments, watched, at_write=at_write)
    return finish(pid, log, since, kill_after=kill_after)


def kind(write: str) -> str:
    """A write without the parts of its name that differ from run to run."""
    for pattern, short in _SHORTENED:
        write = re.sub(pattern, short, write)
    return write


def content_digest(file: Path) -> str:
    """sha256 of a file, whatever the time it was written at."""
    content = file.read_bytes()
    if file.suffix in (".json", ".html", ".md"):
        content = _TIMES.sub("", content.decode("utf-8")).encode()
    return hashlib.sha256(content).hexdigest()


def model_digest(folder: Path) -> dict[str, str]:
    """sha256 of each file that a model folder consists of, whatever the time and the name of its tensor file."""
    found = {}
    manifest = folder / "masker.json"
    tensors = json.loads(manifest.read_bytes()).get("tensors", TENSORS) if manifest.is_file() else TENSORS
    for file in sorted(path for path in folder.rglob("[!.]*") if path.is_file()):
        name = file.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in file.relative_to(folder).parts):
            continue  # what a kill left of a temporary folder
        if re.fullmatch(r"masker(\.\w+)?\.safetensors", name):
            if name != tensors:
                continue  # a calibration that was killed wrote it and did not come to name it, or to remove it
            name = TENSORS
        found[name] = content_digest(file)
    return found
