"""Progress of an experiment on stderr, and the models that nobody needs any more."""

from __future__ import annotations

import logging
from pathlib import Path

from masker.experiments.stages import Graph, Stage, is_finished, read_result, remove_model

_log = logging.getLogger("masker")


class Progress:
    """Says which stage runs and how much time is left, and removes models once all that need them is done.

    Args:
        graph: The whole graph, finished stages included: what they took tells how long the others will.
        todo: The stages that have to run.
        output: The output folder.
        keep_models: Leave the models where they are.
    """

    def __init__(self, graph: Graph, todo: Graph, output: Path, *, keep_models: bool) -> None:
        self.graph, self.output, self.keep_models = graph, output, keep_models
        self.todo, self.left = todo, dict(todo.stages)
        self.total = len(todo.stages)
        self.estimated: dict[str, float] = {}
        self.took: dict[str, float] = {}
        for stage in graph.stages.values():
            if stage.id not in self.left and is_finished(stage, output):
                content = read_result(output, stage.id)
                if not content["resumed"]:
                    self._learn(stage, content["took"])
        if self.total < len(graph.stages):
            _log.info("%d of %d stages are finished already", len(graph.stages) - self.total, len(graph.stages))

    def started(self, stage: Stage) -> None:
        """Say what begins and how much is left."""
        place = self.total - len(self.left) + 1
        _log.info("[%d/%d] %s (about %s left)", place, self.total, stage.title, shown_duration(self.seconds_left()))

    def done(self, stage: Stage, seconds: float) -> None:
        """Learn from a finished stage, and tidy up after it."""
        self.left.pop(stage.id, None)
        self._learn(stage, seconds)
        for name in (*stage.depends_on, stage.id):
            self._tidy(self.graph.stages[name])

    def finish(self) -> None:
        """Tidy up what an interruption may have left; models of earlier runs, which may have been kept, stay."""
        for stage in self.todo.stages.values():
            for name in (*stage.depends_on, stage.id):
                self._tidy(self.graph.stages[name])

    def seconds_left(self) -> float:
        """The estimates of the stages that are left, each corrected by what its kind took so far."""
        everything = sum(self.took.values()) / sum(self.estimated.values()) if self.estimated else 1.0
        left = 0.0
        for stage in self.left.values():
            known = stage.kind in self.estimated
            left += stage.seconds * (self.took[stage.kind] / self.estimated[stage.kind] if known else everything)
        return left

    def _learn(self, stage: Stage, seconds: float) -> None:
        if stage.seconds > 0:
            self.estimated[stage.kind] = self.estimated.get(stage.kind, 0.0) + stage.seconds
            self.took[stage.kind] = self.took.get(stage.kind, 0.0) + seconds

    def _tidy(self, stage: Stage) -> None:
        if stage.kind != "train" or self.keep_models:
            return
        if all(is_finished(child, self.output) for child in self.graph.children(stage.id)):
            remove_model(self.output, stage)


def shown_duration(seconds: float) -> str:
    """A duration as a person says it."""
    if seconds < 90:
        return f"{round(seconds)} s"
    minutes = seconds / 60
    return f"{round(minutes)} min" if minutes < 90 else f"{minutes / 60:.1f} h"
