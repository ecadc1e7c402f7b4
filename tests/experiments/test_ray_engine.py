"""A graph of stages on two workers of Ray, one of which is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from masker.errors import ConfigError, MaskerError
from masker.experiments.ray_engine import RETRIES, execute


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
    execute(
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
        execute(graph, partial(run_sum, output=tmp_path), workers=2)
    *problems, summary = str(caught.value).splitlines()
    assert sorted(problems) == [
        f"deadly: killed {RETRIES + 1} workers (WorkerCrashedError)",
        "no: this cannot be done; do something else",
    ]
    assert summary == "2 of 6 stages failed and 2 that need them did not run; the others are done"
    assert results(tmp_path) == {"a": 1, "b": 5}
    assert attempts(tmp_path).count("deadly") == RETRIES + 1


def test_finished_stages_do_not_run(ray_session, tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.json").write_text(str(SUMS[name]))
    execute(GRAPH[:4], partial(run_sum, output=tmp_path), done={"a", "b", "c"})
    assert attempts(tmp_path) == ["d"]
    assert results(tmp_path) == SUMS
    execute(GRAPH[:4], partial(run_sum, output=tmp_path), done=SUMS)
    assert attempts(tmp_path) == ["d"]


def nap(stage: Sum, output: Path) -> None:
    (output / f"{stage.id}.json").write_text(json.dumps(time.monotonic()))
    for _ in range(1500):
        if len(list(output.glob("*.json"))) == 2:
            return
        time.sleep(0.01)
    raise ConfigError("the other stage did not come")


def test_stages_run_side_by_side(ray_session, tmp_path):
    """Each of two stages waits until it sees the other."""
    execute([Sum("a", 1), Sum("b", 2)], partial(nap, output=tmp_path), workers=2)


def look(stage: Sum, output: Path) -> None:
    place = {"folder": os.getcwd(), "data": os.environ.get("MASKER_DATA"), "threads": os.environ["OMP_NUM_THREADS"]}
    (output / "place.json").write_text(json.dumps(place))


def test_a_worker_stands_where_the_planner_does(ray_session, tmp_path, monkeypatch):
    """Relative paths mean the same, corpora are found in the same folder; alone it may use both cores."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MASKER_DATA", "corpora")
    execute([Sum("a", 1)], partial(look, output=tmp_path))
    found = json.loads((tmp_path / "place.json").read_text())
    assert found == {"folder": str(tmp_path), "data": "corpora", "threads": "2"}


def test_a_circle_is_no_endless_wait(ray_session, tmp_path):
    with pytest.raises(MaskerError, match="the stages a, b wait for each other"):
        execute([Sum("a", 1, ("b",)), Sum("b", 1, ("a",))], partial(run_sum, output=tmp_path))
