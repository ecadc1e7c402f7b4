"""Time left, and models that are removed once nothing needs them."""

from __future__ import annotations

import pytest

from masker.experiments.engines import run_unfinished
from masker.experiments.stage_progress import Progress, shown_duration
from masker.experiments.stages import MODEL, stage_folder
from tests.experiments.conftest import leave_result


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


def test_models_are_removed_after_their_last_use(graph, tmp_path):
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

    run_unfinished(graph, leave_result, "local", tmp_path, Watch())
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


def test_on_unmeasured_hardware_time_is_unknown_until_a_stage_has_finished(graph, tmp_path, caplog):
    """Estimates for two CPU cores say nothing about a GPU; 1 s for 10 s estimated makes the other 23 s about 2.3 s."""
    caplog.set_level("INFO", logger="masker")
    progress = Progress(graph, graph.unfinished(tmp_path), tmp_path, keep_models=True, estimates=False)
    stages = {stage.title: stage for stage in graph.stages.values()}
    progress.started(stages["vanilla"])
    leave_result(stages["vanilla"], tmp_path)
    progress.done(stages["vanilla"], 1.0)
    progress.started(stages["keywords"])
    assert progress.seconds_left() == pytest.approx(2.3)
    assert [record.message for record in caplog.records] == [
        "[1/5] vanilla (time left unknown)",
        "[2/5] keywords (about 2 s left)",
    ]
