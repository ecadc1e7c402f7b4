"""The processes of a data-parallel run (``torchrun``, ``accelerate launch``): rank, broadcast, barrier.

Without a launcher there is one process and no communication. Messages between processes are JSON, never pickle.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from masker.errors import MaskerError

T = TypeVar("T")

#: How long a process waits for the others. Long, because a dead process is noticed at once (its connection closes),
#: while the first may take its time downloading or writing to slow storage.
PATIENCE = timedelta(hours=6)


def world_size() -> int:
    """The number of processes in the run."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "LOCAL_RANK" in os.environ else 1


def rank() -> int:
    """The rank of this process, from 0."""
    return int(os.environ.get("RANK", "0")) if world_size() > 1 else 0


def is_first() -> bool:
    """Whether this is the process that reads, writes and prints."""
    return rank() == 0


def broadcast(value: Any, source: int = 0) -> Any:
    """Send the JSON-ready ``value`` of rank ``source`` to all processes; a collective call."""
    if world_size() == 1:
        return value
    import torch
    from torch import distributed

    device = _device()
    content = json.dumps(value).encode("ascii") if rank() == source else b""
    size = torch.tensor(len(content), device=device)
    distributed.broadcast(size, source)
    data = torch.frombuffer(bytearray(content or int(size)), dtype=torch.uint8).to(device)
    distributed.broadcast(data, source)
    return json.loads(bytes(data.cpu().numpy()))


def all_reduce(tensor: Any) -> Any:
    """Sum a tensor over all processes; a collective call."""
    if world_size() == 1:
        return tensor
    from torch import distributed

    total = tensor.to(_device(), copy=True)
    distributed.all_reduce(total)
    return total.to(tensor.device)


def barrier() -> None:
    """Wait until all processes get here."""
    if world_size() > 1:
        import torch

        # NCCL's own barrier guesses the device; all_reduce is told which.
        all_reduce(torch.zeros(()))


def first_only(work: Callable[[], T]) -> T:
    """Run ``work`` in the first process and broadcast its JSON-ready result; if it fails, it fails in all processes."""
    if world_size() == 1:
        return work()
    outcome: dict[str, Any] | None = None
    if is_first():
        try:
            outcome = {"value": work()}
        except Exception as error:
            broadcast({"error": str(error)})
            raise
    outcome = broadcast(outcome)
    if "error" in outcome:
        raise MaskerError(outcome["error"])
    value: T = outcome["value"]
    return value


def together(work: Callable[[], T]) -> T:
    """Run ``work`` in every process; if it fails in one, it fails in all. ``work`` must not make collective calls."""
    if world_size() == 1:
        return work()
    import torch

    failure: Exception | None = None
    try:
        result = work()
    except Exception as error:
        failure = error
    failed = torch.zeros(world_size())
    failed[rank()] = failure is not None
    failed = all_reduce(failed)
    if failed.any():
        culprit = int(failed.argmax())
        message = broadcast(str(failure), culprit)
        if failure is not None:
            raise failure
        raise MaskerError(f"process {culprit} of {world_size()}: {message}")
    return result


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """One temporary folder for all processes; with several machines, ``TMPDIR`` must be on shared storage."""
    folder = Path(first_only(lambda: tempfile.mkdtemp(prefix="masker-")))
    try:
        yield folder
        barrier()
    finally:
        if is_first():
            shutil.rmtree(folder, ignore_errors=True)


def is_lost_connection(error: Exception) -> bool:
    """Whether an error only reports that another process is gone; that process reports the cause."""
    if world_size() == 1:
        return False
    from torch import distributed

    return isinstance(error, distributed.DistError) or "gloo" in str(error)


@contextmanager
def connections_closed() -> Iterator[None]:
    """Around a whole program: closes the connections to the other processes on every way out.

    A process that had some ends right here. Threads of gloo outlive the connections, and one that lets go of a tensor
    while the interpreter is taken apart aborts the process (pytorch/pytorch#179291).
    """
    code: Any = 0
    try:
        yield
    except SystemExit as end:
        if not _is_connected():
            raise
        code = end.code
    finally:
        was_connected = _is_connected()
        shut_down()
    if was_connected:
        atexit._run_exitfuncs()  # temporary folders, logs
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


def shut_down() -> None:
    """Close the connections to the other processes, if there are any."""
    if _is_connected():
        sys.modules["torch.distributed"].destroy_process_group()


def _is_connected() -> bool:
    distributed = sys.modules.get("torch.distributed")
    return distributed is not None and distributed.is_available() and distributed.is_initialized()


def _device() -> Any:
    """The device used for communication; the first call connects the processes."""
    import torch
    from accelerate import PartialState

    wants_cpu = os.environ.get("ACCELERATE_USE_CPU", "false").lower() in ("1", "true", "yes")
    return PartialState(cpu=wants_cpu or not torch.accelerator.is_available(), timeout=PATIENCE).device
