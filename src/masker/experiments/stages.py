"""Stages: the pieces of work of an experiment, and the folders they leave.

A stage is plain data. Its id is a hash over everything that its result depends on, so two runs that need the same work
name the same stage, and a finished stage never runs twice. ``OUTPUT/stages/<id>`` appears once the stage is complete;
until then its work is in ``<id>.partial``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Container, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from masker.experiments.origins import lineage
from masker.files import write_json

#: Part of every id: raise it when the meaning of a stage changes.
FORMAT = 1
RESULT = "result.json"
MODEL = "model"
KEYWORDS = "keywords.json"


@dataclass(frozen=True)
class Stage:
    """One piece of work."""

    id: str  # hash of kind, inputs and dependencies
    kind: str  # train, keywords, evaluate, or the name of an analysis
    inputs: dict[str, Any]  # all that the work needs to know, JSON-ready
    depends_on: tuple[str, ...]  # ids of the stages whose folders it reads
    title: str = ""  # for people
    seconds: float = 0.0  # estimated duration (masker.experiments.cost)


def make_stage(
    kind: str, inputs: dict[str, Any], depends_on: Iterable[str] = (), *, title: str = "", seconds: float = 0.0
) -> Stage:
    """Make a stage; its id follows from kind, inputs and dependencies."""
    parents = tuple(depends_on)
    identity = json.dumps([FORMAT, kind, inputs, parents], sort_keys=True, ensure_ascii=True)
    return Stage(hashlib.sha256(identity.encode()).hexdigest()[:20], kind, inputs, parents, title, seconds)


@dataclass
class Graph:
    """Stages, each after those it depends on, and the goals: the stages whose results are wanted."""

    stages: dict[str, Stage] = field(default_factory=dict)
    goals: dict[str, None] = field(default_factory=dict)

    def add(self, stage: Stage, *, goal: bool = False) -> Stage:
        """Add a stage, or return the equal one that the graph already has."""
        missing = [parent for parent in stage.depends_on if parent not in self.stages]
        assert not missing, f"add the stages {missing} before the one that depends on them"
        if goal:
            self.goals[stage.id] = None
        return self.stages.setdefault(stage.id, stage)

    def merge(self, other: Graph) -> None:
        for stage in other.stages.values():
            self.add(stage, goal=stage.id in other.goals)

    def children(self, stage_id: str) -> list[Stage]:
        return [stage for stage in self.stages.values() if stage_id in stage.depends_on]

    def unfinished(self, output: Path, archived: Container[str] = ()) -> Graph:
        """The stages that still have to run: unfinished goals, and those of their dependencies that are missing.

        Goals that are ``archived`` count as finished. A dependency does not: an archive has no models.
        """
        needed: set[str] = set()
        queue = [goal for goal in self.goals if goal not in archived and not is_finished(self.stages[goal], output)]
        while queue:
            stage_id = queue.pop()
            if stage_id not in needed:
                needed.add(stage_id)
                queue += [name for name in self.stages[stage_id].depends_on if not is_ready(self.stages[name], output)]
        rest = {name: stage for name, stage in self.stages.items() if name in needed}
        return Graph(rest, {goal: None for goal in self.goals if goal in rest})


def stage_folder(output: Path, stage_id: str) -> Path:
    """The folder of a finished stage."""
    return output / "stages" / stage_id


def partial_folder(output: Path, stage_id: str) -> Path:
    """The folder in which a stage works until it is finished."""
    return output / "stages" / f"{stage_id}.partial"


def is_finished(stage: Stage, output: Path) -> bool:
    """Whether the stage has a result."""
    return (stage_folder(output, stage.id) / RESULT).is_file()


def is_ready(stage: Stage, output: Path) -> bool:
    """Whether another stage can read its folder: the model of a training stage may have been removed."""
    folder = stage_folder(output, stage.id)
    return (folder / RESULT).is_file() and (stage.kind != "train" or (folder / MODEL).is_dir())


def read_result(output: Path, stage_id: str) -> dict[str, Any]:
    """The record of a finished stage: the stage, its result and provenance, and the lineage of its dependencies."""
    content: dict[str, Any] = json.loads((stage_folder(output, stage_id) / RESULT).read_text(encoding="utf-8"))
    return content


def finish_stage(output: Path, stage: Stage, content: dict[str, Any]) -> None:
    """Write the record of a stage, then give its folder its final name."""
    partial, folder = partial_folder(output, stage.id), stage_folder(output, stage.id)
    ancestors = lineage(read_result(output, name) for name in stage.depends_on)
    write_json(partial / RESULT, {**asdict(stage), **content, "ancestors": ancestors})
    if folder.exists():  # its model had been removed, so it ran again
        shutil.rmtree(folder)
    os.replace(partial, folder)


def remove_model(output: Path, stage: Stage) -> None:
    """Delete the model of a training stage; its result stays."""
    model = stage_folder(output, stage.id) / MODEL
    if model.is_dir():
        # Renamed first, so that an interruption never leaves half a model under the name of a complete one.
        doomed = model.with_name(f"{MODEL}.removed")
        os.replace(model, doomed)
        shutil.rmtree(doomed, ignore_errors=True)
