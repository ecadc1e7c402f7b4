"""Stages: the pieces of work that an experiment is made of, and the folders they leave.

A stage is plain data. Its id is a hash over everything that its result depends on, so two runs that need the same work
name the same stage, and a finished stage is never done twice. ``OUTPUT/stages/<id>`` appears when the stage is whole;
until then its work lies in ``<id>.partial``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

#: Part of every id: raise it when a stage comes to mean something else.
FORMAT = 1
RESULT = "result.json"
MODEL = "model"
KEYWORDS = "keywords.json"


@dataclass(frozen=True)
class Stage:
    """One piece of work.

    Attributes:
        id: Hash of kind, inputs and dependencies.
        kind: ``train``, ``keywords``, ``evaluate``, or the name of an analysis.
        inputs: All that the work needs to know, ready for JSON.
        depends_on: Ids of the stages whose folders it reads.
        title: For people; no part of the id.
        seconds: Estimate of its duration on two CPU cores; no part of the id.
    """

    id: str
    kind: str
    inputs: dict[str, Any]
    depends_on: tuple[str, ...]
    title: str = ""
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Stage:
        """Rebuild what :meth:`as_dict` gave."""
        return cls(**{**content, "depends_on": tuple(content["depends_on"])})


def make_stage(
    kind: str, inputs: dict[str, Any], depends_on: Iterable[str] = (), *, title: str = "", seconds: float = 0.0
) -> Stage:
    """A stage with the id that its inputs give it."""
    parents = tuple(depends_on)
    identity = json.dumps([FORMAT, kind, inputs, parents], sort_keys=True, ensure_ascii=True)
    return Stage(hashlib.sha256(identity.encode()).hexdigest()[:20], kind, inputs, parents, title, seconds)


@dataclass
class Graph:
    """Stages in an order in which each comes after those it depends on, and the ones that are wanted in the end."""

    stages: dict[str, Stage] = field(default_factory=dict)
    goals: dict[str, None] = field(default_factory=dict)

    def add(self, stage: Stage, *, goal: bool = False) -> Stage:
        """Add a stage, or return the one that is there already."""
        missing = [parent for parent in stage.depends_on if parent not in self.stages]
        assert not missing, f"add the stages {missing} before the one that depends on them"
        if goal:
            self.goals[stage.id] = None
        return self.stages.setdefault(stage.id, stage)

    def merge(self, other: Graph) -> None:
        """Take over the stages and goals of another graph."""
        for stage in other.stages.values():
            self.add(stage, goal=stage.id in other.goals)

    def children(self, stage_id: str) -> list[Stage]:
        """The stages that read the folder of this one."""
        return [stage for stage in self.stages.values() if stage_id in stage.depends_on]

    def unfinished(self, output: Path) -> Graph:
        """The stages that still have to run: unfinished goals, and what they need that is not there (any more)."""
        needed: set[str] = set()
        queue = [goal for goal in self.goals if not is_finished(self.stages[goal], output)]
        while queue:
            stage_id = queue.pop()
            if stage_id not in needed:
                needed.add(stage_id)
                queue += [name for name in self.stages[stage_id].depends_on if not is_ready(self.stages[name], output)]
        rest = {name: stage for name, stage in self.stages.items() if name in needed}
        return Graph(rest, {goal: None for goal in self.goals if goal in rest})


def stage_folder(output: Path, stage_id: str) -> Path:
    """Where the result of a stage lies once it is whole."""
    return output / "stages" / stage_id


def partial_folder(output: Path, stage_id: str) -> Path:
    """Where a stage works."""
    return output / "stages" / f"{stage_id}.partial"


def is_finished(stage: Stage, output: Path) -> bool:
    """Whether the stage has left its figures."""
    return (stage_folder(output, stage.id) / RESULT).is_file()


def is_ready(stage: Stage, output: Path) -> bool:
    """Whether another stage can read its folder: the model of a training stage may have been removed."""
    folder = stage_folder(output, stage.id)
    return (folder / RESULT).is_file() and (stage.kind != "train" or (folder / MODEL).is_dir())


def read_result(output: Path, stage_id: str) -> dict[str, Any]:
    """What a finished stage has to tell."""
    content: dict[str, Any] = json.loads((stage_folder(output, stage_id) / RESULT).read_text(encoding="utf-8"))
    return content


def finish(output: Path, stage: Stage, content: dict[str, Any]) -> None:
    """Write the result of a stage and give its folder its final name, whole or not at all."""
    partial, folder = partial_folder(output, stage.id), stage_folder(output, stage.id)
    write_json(partial / RESULT, {**stage.as_dict(), **content})
    if folder.exists():  # its model had been removed, and was made again
        shutil.rmtree(folder)
    os.replace(partial, folder)


def remove_model(output: Path, stage: Stage) -> None:
    """Delete the model of a training stage; its figures stay."""
    model = stage_folder(output, stage.id) / MODEL
    if model.is_dir():
        # Renamed first, so that an interruption never leaves half a model under the name of a whole one.
        doomed = model.with_name(f"{MODEL}.removed")
        os.replace(model, doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file whole or not at all."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
