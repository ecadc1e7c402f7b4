"""One process, and two real ones that talk over the loopback interface."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from masker import distributed

SCRIPT = """
import json, sys
import torch
from masker import distributed

mine = distributed.rank()
found = {}

def attempt(name, work):
    try:
        found[name] = work()
    except Exception as error:
        found[name] = f"{type(error).__name__}: {error}"

def fail():
    raise ValueError("no disk")

attempt("first", distributed.is_first)
attempt("broadcast", lambda: distributed.broadcast({"from": mine}))
attempt("broadcast from 1", lambda: distributed.broadcast({"from": mine, "text": "caf\\u00e9"}, 1))
attempt("sum", lambda: distributed.all_reduce(torch.tensor([1.0, mine])).tolist())
attempt("first_only", lambda: distributed.first_only(lambda: f"by {mine}"))
attempt("first_only fails", lambda: distributed.first_only(fail))
attempt("together", lambda: distributed.together(lambda: f"by {mine}"))
attempt("together fails", lambda: distributed.together(fail if mine else lambda: "done"))
with distributed.temporary_folder() as folder:
    found["folder"] = str(folder)
    (folder / str(mine)).touch()
    distributed.barrier()
    found["files"] = sorted(path.name for path in folder.iterdir())
distributed.barrier()
found["left"] = folder.exists()
distributed.shut_down()
found["shut down"] = not torch.distributed.is_initialized()
print(json.dumps(found))
"""


@pytest.fixture
def alone(monkeypatch):
    for name in ("LOCAL_RANK", "RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def two():
    """What each of two processes found."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    paths = [str(Path(distributed.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    common = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "WORLD_SIZE": "2"}
    common |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "ACCELERATE_USE_CPU": "true"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            env={**common, "RANK": rank, "LOCAL_RANK": rank},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in ("0", "1")
    ]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    return [json.loads(output.splitlines()[-1]) for output, _ in outputs]


def test_one_process_needs_no_communication(alone):
    assert (distributed.world_size(), distributed.rank(), distributed.is_first()) == (1, 0, True)
    value = object()
    assert distributed.broadcast(value) is value
    tensor = torch.ones(2)
    assert distributed.all_reduce(tensor) is tensor
    assert distributed.first_only(lambda: value) is value
    assert distributed.together(lambda: value) is value
    distributed.barrier()
    with distributed.temporary_folder() as folder:
        assert folder.is_dir()
    assert not folder.exists()
    assert not distributed.is_lost_connection(RuntimeError("gloo: connection closed"))
    distributed.shut_down()


def test_the_launcher_is_told_by_its_variables(monkeypatch, alone):
    """A scheduler that sets RANK and WORLD_SIZE for other reasons is no launcher."""
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("RANK", "3")
    assert (distributed.world_size(), distributed.rank()) == (1, 0)
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert (distributed.world_size(), distributed.rank(), distributed.is_first()) == (4, 3, False)
    assert distributed.is_lost_connection(RuntimeError("[gloo/transport] Connection closed by peer"))
    assert not distributed.is_lost_connection(RuntimeError("shapes do not match"))


def test_ranks(two):
    assert [found["first"] for found in two] == [True, False]


def test_broadcast_sends_one_value_to_all(two):
    assert [found["broadcast"] for found in two] == [{"from": 0}] * 2
    assert [found["broadcast from 1"] for found in two] == [{"from": 1, "text": "café"}] * 2


def test_all_reduce_sums(two):
    assert [found["sum"] for found in two] == [[2.0, 1.0]] * 2


def test_work_of_the_first_process_is_shared(two):
    assert [found["first_only"] for found in two] == ["by 0"] * 2
    assert [found["first_only fails"] for found in two] == ["ValueError: no disk", "MaskerError: no disk"]


def test_work_fails_in_all_processes_or_in_none(two):
    assert [found["together"] for found in two] == ["by 0", "by 1"]
    assert [found["together fails"] for found in two] == [
        "MaskerError: process 1 of 2: no disk",
        "ValueError: no disk",
    ]


def test_one_temporary_folder_for_all(two):
    assert two[0]["folder"] == two[1]["folder"]
    assert [found["files"] for found in two] == [["0", "1"]] * 2
    assert [found["left"] for found in two] == [False] * 2
    assert [found["shut down"] for found in two] == [True] * 2


ENDING = """
import atexit, sys, tempfile
from torch import distributed as engine
from masker import distributed

class Remnant:
    def __del__(self):
        print("taken apart")

remnant = Remnant()
atexit.register(print, "handlers ran")
engine.init_process_group("gloo", init_method=f"file://{tempfile.mktemp()}", rank=0, world_size=1)
with distributed.connections_closed():
    WAY_OUT
"""


@pytest.mark.parametrize(
    ("way_out", "code"),
    [("pass", 0), ("sys.exit(3)", 3), ("sys.exit('why')", 1), ("raise ValueError('unexpected')", 1)],
)
def test_a_connected_process_ends_before_the_interpreter_does(alone, way_out, code):
    """An unexpected error still ends as Python ends it: its traceback is the only trace."""
    paths = os.pathsep.join([str(Path(distributed.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", ENDING.replace("WAY_OUT", way_out)],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    unexpected = "unexpected" in way_out
    assert done.returncode == code, done.stderr
    assert "handlers ran" in done.stdout and ("taken apart" in done.stdout) == unexpected
    assert ("ValueError: unexpected" in done.stderr) == unexpected


def test_a_process_without_connections_ends_as_any_other(alone):
    with pytest.raises(SystemExit, match="2"), distributed.connections_closed():
        sys.exit(2)
    with distributed.connections_closed():
        pass
