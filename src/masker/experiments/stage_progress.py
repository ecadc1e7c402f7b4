"""Progress of an experiment on stderr, and removal of models that are no longer needed."""

from __future__ import annotations

import logging
from pathlib import Path

from masker.experiments.stages import Graph, Stage, is_finished, read_result, remove_model

_log = logging.getLogger("masker")


class Progress:
    """Reports which stage runs and how much time is left, and removes a model once every stage that needs it is done.

    Args:
        graph: The whole graph, finished stages included: their durations correct the estimates of the others.
        estimates: Whether the estimates of the stages hold for this hardware; otherwise only their proportions do, and
            the time left is unknown until a stage has finished.
    """

    def __init__(
        self, graph: Graph, todo: Graph, output: Path, *, keep_models: bool = False, estimates: bool = True
    ) -> None:
        self.graph, self.output, self.keep_models, self.estimates = graph, output, keep_models, estimates
        self.todo, self.left = todo, dict(todo.stages)
        self.total = len(todo.stages)
        self.estimated: dict[str, float] = {}
        self.took: dict[str, float] = {}
        for stage in graph.stages.values():
            if stage.id not in self.left and is_finished(stage, output):
                record = read_result(output, stage.id)
                if not record["resumed"]:
                    self._learn(stage, record["took"])
        if self.total < len(graph.stages):
            _log.info("%d of %d stages are already finished", len(graph.stages) - self.total, len(graph.stages))

    def started(self, stage: Stage) -> None:
        seconds = self.seconds_left()
        left = "time left unknown" if seconds is None else f"about {shown_duration(seconds)} left"
        _log.info("[%d/%d] %s (%s)", self.total - len(self.left) + 1, self.total, stage.title, left)

    def done(self, stage: Stage, seconds: float) -> None:
        """Learn from the duration of a finished stage, and remove models that nothing needs any more."""
        self.left.pop(stage.id, None)
        self._learn(stage, seconds)
        self._tidy(stage)

    def finish(self) -> None:
        """Remove models that an interruption left behind; those of earlier runs may have been kept on purpose."""
        for stage in self.todo.stages.values():
            self._tidy(stage)

    def seconds_left(self) -> float | None:
        """The estimates of the remaining stages, each corrected by what its kind has taken so far."""
        if not self.estimates and not self.estimated:
            return None
        overall = sum(self.took.values()) / sum(self.estimated.values()) if self.estimated else 1.0
        left = 0.0
        for stage in self.left.values():
            known = stage.kind in self.estimated
            left += stage.seconds * (self.took[stage.kind] / self.estimated[stage.kind] if known else overall)
        return left

    def _learn(self, stage: Stage, seconds: float) -> None:
        if stage.seconds > 0:
            self.estimated[stage.kind] = self.estimated.get(stage.kind, 0.0) + stage.seconds
            self.took[stage.kind] = self.took.get(stage.kind, 0.0) + seconds

    def _tidy(self, stage: Stage) -> None:
        for near in (self.graph.stages[name] for name in (*stage.depends_on, stage.id)):
            used = all(is_finished(child, self.output) for child in self.graph.children(near.id))
            if near.kind == "train" and used and not self.keep_models:
                remove_model(self.output, near)


def shown_duration(seconds: float) -> str:
    """A duration in seconds, minutes or hours."""
    if seconds < 90:
        return f"{round(seconds)} s"
    minutes = seconds / 60
    return f"{round(minutes)} min" if minutes < 90 else f"{minutes / 60:.1f} h"
