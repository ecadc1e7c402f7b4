"""Which stages have to run, in which order, and what an engine is told."""

from __future__ import annotations

import pytest

from masker.errors import ConfigError
from masker.experiments.engines import execute
from masker.experiments.stage_progress import Progress, shown_duration
from masker.experiments.stages import (
    MODEL,
    Graph,
    finish,
    is_finished,
    is_ready,
    make_stage,
    partial_folder,
    remove_model,
    stage_folder,
)


@pytest.fixture
def graph():
    """vanilla -> keywords -> masker, and an evaluation of both models."""
    graph = Graph()
    vanilla = graph.add(make_stage("train", {"name": "vanilla"}, title="vanilla", seconds=10.0))
    graph.add(make_stage("evaluate", {"n": 1}, [vanilla.id], title="vanilla's", seconds=1.0), goal=True)
    keywords = graph.add(make_stage("keywords", {}, [vanilla.id], title="keywords", seconds=1.0))
    masker = graph.add(make_stage("train", {"name": "masker"}, [keywords.id], title="masker", seconds=20.0))
    graph.add(make_stage("evaluate", {"n": 1}, [masker.id], title="masker's", seconds=1.0), goal=True)
    return graph


def leave_result(stage, output):
    """Stands for the work of a stage."""
    folder = partial_folder(output, stage.id)
    folder.mkdir(parents=True)
    if stage.kind == "train":
        (folder / MODEL).mkdir()
    finish(output, stage, {"result": {}, "took": 2.0 * stage.seconds, "resumed": False})


class Listener:
    def __init__(self):
        self.heard = []

    def started(self, stage):
        self.heard.append(f"+{stage.title}")

    def done(self, stage, seconds):
        self.heard.append(f"-{stage.title}")
        assert seconds >= 0


def titles(graph):
    return [stage.title for stage in graph.stages.values()]


def test_ids_depend_on_kind_inputs_and_parents_only():
    one = make_stage("train", {"a": 1, "b": 2}, ["x"], title="t", seconds=1.0)
    assert one.id == make_stage("train", {"b": 2, "a": 1}, ["x"]).id
    others = [make_stage("train", {"a": 2, "b": 2}, ["x"]), make_stage("test", one.inputs, ["x"]),
              make_stage("train", one.inputs, ["y"]), make_stage("train", one.inputs)]  # fmt: skip
    assert len({one.id, *(other.id for other in others)}) == 5


def test_every_stage_runs_once_after_those_it_needs(graph, tmp_path):
    listener = Listener()
    execute(graph, leave_result, "local", tmp_path, listener)
    order = ["vanilla", "vanilla's", "keywords", "masker", "masker's"]
    assert listener.heard == [mark + name for name in order for mark in "+-"]
    again = Listener()
    execute(graph, leave_result, "local", tmp_path, again)
    assert again.heard == []


def test_an_unfinished_stage_is_not_there(graph, tmp_path):
    stage = next(iter(graph.stages.values()))
    partial_folder(tmp_path, stage.id).mkdir(parents=True)
    assert not is_finished(stage, tmp_path)
    assert titles(graph.unfinished(tmp_path)) == titles(graph)


def test_a_removed_model_is_made_again_only_for_those_who_need_it(graph, tmp_path):
    execute(graph, leave_result, "local", tmp_path, Listener())
    stages = {stage.title: stage for stage in graph.stages.values()}
    for name in ("vanilla", "masker"):
        remove_model(tmp_path, stages[name])
        assert is_finished(stages[name], tmp_path) and not is_ready(stages[name], tmp_path)
    assert titles(graph.unfinished(tmp_path)) == [], "all figures are there"
    graph.add(make_stage("evaluate", {"n": 2}, [stages["masker"].id], title="another"), goal=True)
    assert titles(graph.unfinished(tmp_path)) == ["masker", "another"], "the keyword set is still there"
    execute(graph, leave_result, "local", tmp_path, Listener())
    assert is_ready(stages["masker"], tmp_path) and not is_ready(stages["vanilla"], tmp_path)


def test_two_graphs_share_equal_stages(graph):
    other = Graph()
    vanilla = other.add(make_stage("train", {"name": "vanilla"}, title="called differently"))
    other.add(make_stage("evaluate", {"n": 5}, [vanilla.id], title="new"), goal=True)
    graph.merge(other)
    assert titles(graph) == ["vanilla", "vanilla's", "keywords", "masker", "masker's", "new"]
    assert len(graph.goals) == 3
    with pytest.raises(AssertionError, match="before the one that depends"):
        Graph().add(make_stage("evaluate", {}, ["missing"]))


def test_unknown_engine(graph, tmp_path):
    with pytest.raises(ConfigError, match=r"engine must be one of local.*Did you mean 'local'"):
        execute(graph, leave_result, "locla", tmp_path, Listener())


def test_time_left_learns_from_finished_stages_of_the_same_kind(graph, tmp_path):
    """Estimates: vanilla 10, its evaluation 1, keywords 1, masker 20, its evaluation 1; 33 in all.

    vanilla took 30 s, three times its estimate: training is left with 20 x 3 = 60. No other kind is known yet, so the
    rest (1 + 1 + 1) is corrected by the same overall 3: 60 + 9 = 69. Then its evaluation takes 0.5 s, half of its
    estimate, and the other evaluation is left with 0.5; overall 30.5 / 11 for the keywords: 60 + 0.5 + 30.5 / 11.
    """
    progress = Progress(graph, graph.unfinished(tmp_path), tmp_path, keep_models=True)
    assert progress.seconds_left() == pytest.approx(33.0)
    stages = {stage.title: stage for stage in graph.stages.values()}
    leave_result(stages["vanilla"], tmp_path)
    progress.done(stages["vanilla"], 30.0)
    assert progress.seconds_left() == pytest.approx(69.0)
    progress.done(stages["vanilla's"], 0.5)
    assert progress.seconds_left() == pytest.approx(60.5 + 30.5 / 11)
    later = Progress(graph, graph.unfinished(tmp_path), tmp_path, keep_models=True)
    assert later.seconds_left() == pytest.approx(2 * 23), "vanilla is finished and has taken twice its 10 s"


def test_models_go_when_the_last_figure_is_there(graph, tmp_path):
    progress = Progress(graph, graph.unfinished(tmp_path), tmp_path, keep_models=False)
    present = {}

    class Watch:
        def started(self, stage):
            progress.started(stage)

        def done(self, stage, seconds):
            progress.done(stage, seconds)
            present[stage.title] = [
                s.title for s in graph.stages.values() if (stage_folder(tmp_path, s.id) / MODEL).is_dir()
            ]

    execute(graph, leave_result, "local", tmp_path, Watch())
    assert present == {
        "vanilla": ["vanilla"],
        "vanilla's": ["vanilla"],
        "keywords": [],
        "masker": ["masker"],
        "masker's": [],
    }


@pytest.mark.parametrize(("seconds", "shown"), [(4.4, "4 s"), (89, "89 s"), (120, "2 min"), (5400, "1.5 h")])
def test_durations(seconds, shown):
    assert shown_duration(seconds) == shown
