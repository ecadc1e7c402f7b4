"""``python -m benchmarks.mutants_runner JOBS``: the tests of a module against each of its mutants, in forks.

Reads jobs (file, module, test file, mutants) from a JSON file and prints a line of JSON for each mutant. This process
has imported the libraries and nothing of masker, so a fork imports masker with the mutant in it within a fraction of a
second. No file changes.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

#: Seconds beyond ten times what the tests take: a mutant that takes longer never ends.
GRACE = 10.0
# Plain asserts: the import hook that rewrites them takes window_test.py for a test and would load it without its fault.
PYTEST = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", "--tb=no", "--no-header", "--durations=0"]
#: What every fork would import anew.
OURS = ("masker", "tests", "conftest", "benchmarks")


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self.source = source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec")


class Mutation(importlib.abc.MetaPathFinder):
    """Gives one module another source."""

    def __init__(self, module: str, path: str, source: str) -> None:
        self.module, self.path, self.source = module, path, source

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> Any:
        if fullname != self.module:
            return None
        loader = _Loader(fullname, self.path, self.source)
        return importlib.util.spec_from_file_location(fullname, self.path, loader=loader)


class Order:
    """Runs the quickest tests first, and notes how long each takes."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.known, self.found = seconds, dict[str, float]()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items.sort(key=lambda item: self.known.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.found[report.nodeid] = self.found.get(report.nodeid, 0.0) + report.duration


def tested(job: dict[str, Any], source: str | None, limit: float) -> tuple[str, float]:
    """``survived``, ``killed`` or ``timed out``, and the seconds it took; no source means the module as it is."""
    since = time.monotonic()
    pid = os.fork()
    if not pid:
        os.setpgid(0, 0)
        os._exit(_test(job, source, Order(job["seconds"])))
    status = None
    while status is None:
        done, found = os.waitpid(pid, os.WNOHANG)
        if done:
            status = found
        elif time.monotonic() - since > limit:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return "timed out", time.monotonic() - since
        else:
            time.sleep(0.005)
    return "survived" if status == 0 else "killed", time.monotonic() - since


def _test(job: dict[str, Any], source: str | None, order: Order) -> int:
    import pytest
    from hypothesis import Phase, settings

    # The same examples for each mutant; one that fails is enough, it need not be the smallest.
    settings.register_profile("mutants", phases=(Phase.explicit, Phase.generate), derandomize=True, database=None)
    settings.load_profile("mutants")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    if source is not None:
        sys.meta_path.insert(0, Mutation(job["module"], str(Path(job["file"]).resolve()), source))
    try:
        return int(pytest.main([*PYTEST, *job["tests"]], plugins=[order]))
    except BaseException:
        return 1


def prepare(job: dict[str, Any]) -> None:
    """Import the libraries that the tests import, so that no mutant has to, and time the tests; a fork finds out."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        order = Order({})
        _test(job, None, order)
        with os.fdopen(writing, "w") as file:
            json.dump([list(sys.modules), order.found], file)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        names, job["seconds"] = json.load(file)
    os.waitpid(pid, 0)
    for name in names:
        if name.split(".")[0] not in (*OURS, "__main__") and name not in sys.modules:
            with suppress(Exception):  # not all that is in sys.modules is a module that can be asked for
                importlib.import_module(name)


def run(job: dict[str, Any]) -> None:
    prepare(job)
    # A collection in a fork would touch, and so copy, all memory it shares with this process.
    gc.collect()
    gc.freeze()
    outcome, seconds = tested(job, None, 300.0)
    if outcome != "survived":
        sys.exit(f"{' '.join(job['tests'])} must pass before mutants of '{job['file']}' can be counted")
    for number, mutant in enumerate(job["mutants"]):
        outcome, took = tested(job, mutant["source"], GRACE + 10 * seconds)
        line = {"file": job["file"], "number": number, "outcome": outcome, "seconds": round(took, 2)}
        print(json.dumps(line), flush=True)


def main() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    # Plug-ins take longer to load than most tests to fail.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for job in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        run(job)


if __name__ == "__main__":
    main()
