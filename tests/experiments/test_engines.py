"""Which stages an engine runs, in which order, and what its listener hears."""

from __future__ import annotations

import pytest

from masker.errors import ConfigError
from masker.experiments.engines import run_unfinished
from masker.experiments.stages import is_finished
from tests.experiments.conftest import Listener, leave_result


def test_every_stage_runs_once_after_those_it_needs(graph, tmp_path):
    listener = Listener()
    run_unfinished(graph, leave_result, "local", tmp_path, listener)
    order = ["vanilla", "vanilla's", "keywords", "masker", "masker's"]
    assert listener.heard == [mark + name for name in order for mark in "+-"]
    again = Listener()
    run_unfinished(graph, leave_result, "local", tmp_path, again)
    assert again.heard == []


def test_unknown_engine(graph, tmp_path):
    with pytest.raises(ConfigError, match=r"engine must be one of local.*Did you mean 'local'"):
        run_unfinished(graph, leave_result, "locla", tmp_path, Listener())


def test_ray_runs_the_same_stages(ray_session, graph, tmp_path):
    listener = Listener()
    run_unfinished(graph, leave_result, "ray", tmp_path, listener)
    assert all(is_finished(stage, tmp_path) for stage in graph.stages.values())
    assert sorted(listener.heard) == sorted(mark + stage.title for stage in graph.stages.values() for mark in "+-")
    assert listener.heard[:2] == ["+vanilla", "-vanilla"] and listener.heard[-1] == "-masker's"
