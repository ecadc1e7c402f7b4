"""The ids of stages, and which of them have to run."""

from __future__ import annotations

import pytest

from masker.experiments.engines import run_unfinished
from masker.experiments.stages import Graph, is_finished, is_ready, make_stage, partial_folder, remove_model
from tests.experiments.conftest import Listener, leave_result


def titles(graph):
    return [stage.title for stage in graph.stages.values()]


def test_ids_depend_on_kind_inputs_and_parents_only():
    one = make_stage("train", {"a": 1, "b": 2}, ["x"], title="t", seconds=1.0)
    assert one.id == make_stage("train", {"b": 2, "a": 1}, ["x"]).id
    others = [make_stage("train", {"a": 2, "b": 2}, ["x"]), make_stage("test", one.inputs, ["x"]),
              make_stage("train", one.inputs, ["y"]), make_stage("train", one.inputs)]  # fmt: skip
    assert len({one.id, *(other.id for other in others)}) == 5


def test_a_partial_folder_is_not_a_result(graph, tmp_path):
    stage = next(iter(graph.stages.values()))
    partial_folder(tmp_path, stage.id).mkdir(parents=True)
    assert not is_finished(stage, tmp_path)
    assert titles(graph.unfinished(tmp_path)) == titles(graph)


def test_a_removed_model_is_trained_again_only_if_something_needs_it(graph, tmp_path):
    run_unfinished(graph, leave_result, "local", tmp_path, Listener())
    stages = {stage.title: stage for stage in graph.stages.values()}
    for name in ("vanilla", "masker"):
        remove_model(tmp_path, stages[name])
        assert is_finished(stages[name], tmp_path) and not is_ready(stages[name], tmp_path)
    assert titles(graph.unfinished(tmp_path)) == [], "all figures are there"
    graph.add(make_stage("evaluate", {"n": 2}, [stages["masker"].id], title="another"), goal=True)
    assert titles(graph.unfinished(tmp_path)) == ["masker", "another"], "the keyword set is still there"
    run_unfinished(graph, leave_result, "local", tmp_path, Listener())
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
