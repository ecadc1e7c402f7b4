"""Engines: what runs the stages of a graph.

An engine gets a graph of stages that all have to run, a top-level function ``run_stage(stage, output)`` that needs
nothing but the stage and the output folder, and a listener in the process that planned the graph. It starts no stage
before those it depends on are done; a dependency that is not in the graph is finished already.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from masker.errors import ConfigError, did_you_mean
from masker.experiments.stages import Graph, Stage

RunStage = Callable[[Stage, Path], None]


@dataclass(frozen=True)
class Execution:
    """How stages are run."""

    engine: str = "local"  # a name in ENGINES
    device: str = "auto"
    keep_models: bool = False  # instead of removing each trained model after its last use
    finished: bool = False  # run nothing, and write the results of the runs that are finished
    stages: Path | None = None  # an archive of finished stages, read before and written after


class Listener(Protocol):
    """Hears of stages in the process that planned them."""

    def started(self, stage: Stage) -> None: ...

    def done(self, stage: Stage, seconds: float) -> None: ...


#: Runs every stage of a graph. If one fails, the run ends with its error, and finished stages stay finished.
Engine = Callable[[Graph, RunStage, Path, Listener], None]


def run_locally(graph: Graph, run_stage: RunStage, output: Path, listener: Listener) -> None:
    """One stage after another in this process, in the order of the plan."""
    for stage in graph.stages.values():
        listener.started(stage)
        start = time.monotonic()
        run_stage(stage, output)
        listener.done(stage, time.monotonic() - start)


def _into(run_stage: RunStage, output: Path, stage: Stage) -> None:
    run_stage(stage, output)


def run_on_ray(graph: Graph, run_stage: RunStage, output: Path, listener: Listener) -> None:
    """Many stages at a time on Ray: on this machine, or on the cluster that ``RAY_ADDRESS`` names."""
    from masker.ray.stage_graph import run_graph

    work = partial(_into, run_stage, output.resolve())
    run_graph(graph.stages.values(), work, on_started=listener.started, on_finished=listener.done)


ENGINES: dict[str, Engine] = {"local": run_locally, "ray": run_on_ray}


def find_engine(name: str) -> Engine:
    """The engine of that name."""
    if name not in ENGINES:
        raise ConfigError(f"engine must be one of {', '.join(ENGINES)}; got '{name}'.{did_you_mean(name, ENGINES)}")
    return ENGINES[name]


def run_unfinished(graph: Graph, run_stage: RunStage, engine: str, output: Path, listener: Listener) -> None:
    """Run the stages of ``graph`` that are not finished yet."""
    find_engine(engine)(graph.unfinished(output), run_stage, output, listener)
