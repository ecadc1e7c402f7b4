"""A graph of stages on two workers of Ray, one of which is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from masker.errors import ConfigError, MaskerError
from masker.ray import stage_graph
from masker.ray.cluster import Cluster
from masker.ray.stage_graph import RETRIES, run_graph


@dataclass(frozen=True)
class Sum:
    """Adds a number to the sums of other stages. ``trouble``: killed once, killed always, refused."""

    id: str
    number: int
    depends_on: tuple[str, ...] = ()
    trouble: str = ""


def run_sum(stage: Sum, output: Path) -> None:
    with (output / "attempts").open("a") as file:
        file.write(f"{stage.id}\n")
    if stage.trouble == "refused":
        raise ConfigError("this cannot be done; do something else")
    first = not (output / f"{stage.id}.started").exists()
    (output / f"{stage.id}.started").touch()
    if stage.trouble == "killed always" or (stage.trouble == "killed once" and first):
        os.kill(os.getpid(), signal.SIGKILL)
    parents = [json.loads((output / f"{name}.json").read_text()) for name in stage.depends_on]
    (output / f"{stage.id}.json").write_text(json.dumps(stage.number + sum(parents)))


def results(folder: Path) -> dict[str, int]:
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def attempts(folder: Path) -> list[str]:
    return (folder / "attempts").read_text().split()


#   a ─ b ─ d ─ e
#     ╲ c ╱
GRAPH = [
    Sum("a", 1),
    Sum("b", 10, ("a",)),
    Sum("c", 100, ("a",), "killed once"),
    Sum("d", 1000, ("b", "c")),
    Sum("e", 10000, ("d", "finished before")),
]
# b = 1 + 10, c = 1 + 100, d = 1000 + 11 + 101
SUMS = {"a": 1, "b": 11, "c": 101, "d": 1112}


def test_killed_worker_loses_nothing(ray_session, tmp_path):
    """The same results as one after the other in this process; e has a parent that is no part of the graph."""
    (tmp_path / "finished before.json").write_text("5")
    started: list[str] = []
    finished: dict[str, float] = {}
    run_graph(
        reversed(GRAPH),
        partial(run_sum, output=tmp_path),
        workers=2,
        on_started=lambda stage: started.append(stage.id),
        on_finished=lambda stage, seconds: finished.update({stage.id: seconds}),
    )
    assert results(tmp_path) == {**SUMS, "e": 10000 + 1112 + 5, "finished before": 5}
    assert sorted(attempts(tmp_path)) == ["a", "b", "c", "c", "d", "e"]
    assert started[0] == "a" and started[-2:] == ["d", "e"]
    assert list(finished)[-2:] == ["d", "e"] and all(seconds >= 0 for seconds in finished.values())


def test_what_does_not_depend_on_a_failure_is_done(ray_session, tmp_path):
    graph = [
        Sum("a", 1),
        Sum("no", 2, ("a",), "refused"),
        Sum("deadly", 3, (), "killed always"),
        Sum("b", 4, ("a",)),
        Sum("after no", 5, ("no",)),
        Sum("after that", 6, ("after no", "b")),
    ]
    with pytest.raises(MaskerError) as caught:
        run_graph(graph, partial(run_sum, output=tmp_path), workers=2)
    *problems, summary = str(caught.value).splitlines()
    assert sorted(problems) == [
        f"deadly: killed {RETRIES + 1} workers (WorkerCrashedError)",
        "no: this cannot be done; do something else",
    ]
    assert summary == "2 of 6 stages failed, 2 that depend on them did not run; all others are done"
    assert results(tmp_path) == {"a": 1, "b": 5}
    assert attempts(tmp_path).count("deadly") == RETRIES + 1


def test_a_dependency_outside_the_graph_counts_as_done(ray_session, tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.json").write_text(str(SUMS[name]))
    run_graph([GRAPH[3]], partial(run_sum, output=tmp_path))
    assert attempts(tmp_path) == ["d"]
    assert results(tmp_path) == SUMS
    run_graph([], partial(run_sum, output=tmp_path))
    assert attempts(tmp_path) == ["d"]


def nap(stage: Sum, output: Path) -> None:
    (output / f"{stage.id}.json").write_text(json.dumps(time.monotonic()))
    for _ in range(1500):
        if len(list(output.glob("*.json"))) == 2:
            return
        time.sleep(0.01)
    raise ConfigError("the other stage did not start")


def test_stages_run_side_by_side(ray_session, tmp_path):
    """Each of two stages waits until it sees the other."""
    run_graph([Sum("a", 1), Sum("b", 2)], partial(nap, output=tmp_path), workers=2)


def look(stage: Sum, output: Path) -> None:
    place = {"folder": os.getcwd(), "data": os.environ.get("MASKER_DATA"), "threads": os.environ["OMP_NUM_THREADS"]}
    (output / "place.json").write_text(json.dumps(place))


def test_a_worker_takes_over_folder_and_variables(ray_session, tmp_path, monkeypatch):
    """Relative paths mean the same, corpora are found in the same folder; alone it may use both cores."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MASKER_DATA", "corpora")
    run_graph([Sum("a", 1)], partial(look, output=tmp_path))
    found = json.loads((tmp_path / "place.json").read_text())
    assert found == {"folder": str(tmp_path), "data": "corpora", "threads": "2"}


def test_a_cycle_is_an_error(ray_session, tmp_path):
    with pytest.raises(MaskerError, match="stages a, b depend on each other"):
        run_graph([Sum("a", 1, ("b",)), Sum("b", 1, ("a",))], partial(run_sum, output=tmp_path))


def fault(stage: Sum, output: Path) -> None:
    (output / f"{stage.id}.started").touch()
    if stage.trouble:
        raise ValueError("a bug")
    time.sleep(30)


def test_a_bug_keeps_its_traceback_and_cancels_the_rest(ray_session, tmp_path):
    ray = ray_session.ray
    with pytest.raises(ray.exceptions.RayTaskError, match="in fault"):
        run_graph([Sum("a", 1, trouble="bug"), Sum("b", 1, ("a",))], partial(fault, output=tmp_path), workers=2)
    assert [path.stem for path in tmp_path.glob("*.started")] == ["a"]


# What follows needs no processes: a Ray whose tasks run when they are waited for.


class Task:
    def __init__(self, function, arguments):
        self.function, self.arguments = function, arguments

    def result(self):
        if not hasattr(self, "error"):
            self.error = None
            try:
                values = [part.result() if isinstance(part, Task) else part for part in self.arguments]
                self.value = self.function(*values)
            except Exception as error:
                self.error = error
        if self.error is not None:
            raise PretendedRay.Mishap(self.error)
        return self.value


class PretendedRay:
    class Mishap(Exception):
        def __init__(self, cause):
            super().__init__(str(cause))
            self.cause = cause

    exceptions = SimpleNamespace(RayError=Mishap, RayTaskError=Mishap)

    def __init__(self):
        self.submitted, self.options = [], {}

    def remote(self, function):
        def submit(*arguments):
            self.submitted.append(arguments[1].id)
            return Task(function, arguments)

        def options(**values):
            self.options = values
            return SimpleNamespace(remote=submit)

        return SimpleNamespace(options=options)

    def wait(self, tasks, num_returns):
        return tasks[-1:], tasks[:-1]  # the worst order: children before their parents

    def get(self, task):
        return task.result()

    def cancel(self, task):
        raise AssertionError("nothing is left to cancel")


@pytest.fixture
def pretended(monkeypatch):
    ray = PretendedRay()

    @contextmanager
    def opened(pieces, workers, *, cores_each):
        yield Cluster(ray, workers, 1, 4, num_gpus=1)

    monkeypatch.setattr(stage_graph, "open_cluster", opened)
    return ray


def test_every_stage_requests_its_share_of_the_cluster(pretended, tmp_path):
    run_graph(GRAPH[:2], partial(run_sum, output=tmp_path), workers=1)
    assert pretended.options == {"num_cpus": 4, "num_gpus": 1, "max_retries": RETRIES}


def test_stages_are_submitted_in_order_of_priority(pretended, tmp_path):
    """Two chains: the first is finished before the second begins, so no model waits on disk for the whole graph."""
    chains = [Sum(f"{chain}{step}", 1, (f"{chain}{step - 1}",) if step else ()) for chain in "ab" for step in range(3)]
    started, finished = [], []
    run_graph(
        chains,
        partial(run_sum, output=tmp_path),
        workers=1,
        on_started=lambda stage: started.append(stage.id),
        on_finished=lambda stage, seconds: finished.append(stage.id),
    )
    assert pretended.submitted == started == finished == ["a0", "a1", "a2", "b0", "b1", "b2"]


def test_parents_are_settled_before_their_children(pretended, tmp_path):
    """Even where Ray names the child first; and what depends on a failure is neither started nor blamed."""
    graph = [Sum("no", 1, (), "refused"), Sum("child", 1, ("no",)), Sum("grandchild", 1, ("child",)), Sum("ok", 1)]
    started, finished = [], []
    with pytest.raises(MaskerError) as caught:
        run_graph(
            graph,
            partial(run_sum, output=tmp_path),
            workers=9,
            on_started=lambda stage: started.append(stage.id),
            on_finished=lambda stage, seconds: finished.append(stage.id),
        )
    assert str(caught.value).splitlines() == [
        "no: this cannot be done; do something else",
        "1 of 4 stages failed, 2 that depend on them did not run; all others are done",
    ]
    assert (started, finished) == (["no", "ok"], ["ok"])
