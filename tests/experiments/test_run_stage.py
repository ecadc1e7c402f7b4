"""A stage leaves a complete folder and a record of the code that ran it."""

from __future__ import annotations

import json

import pytest

from masker.experiments import run_stage as module
from masker.experiments.run_stage import run_stage
from masker.experiments.stages import make_stage, partial_folder, read_result, stage_folder


class Interrupted(Exception):
    pass


@pytest.fixture
def work(monkeypatch):
    """A kind of stage that does what it is told: ``work.fails``, with the code ``work.commit``."""

    class Work:
        fails, commit, done, device = False, "a", 0, None

        def __call__(self, task):
            (task.partial / "work").mkdir(exist_ok=True)
            self.device = task.device
            if self.fails:
                raise Interrupted
            self.done += 1
            return {"figure": 1}

    work = Work()
    monkeypatch.setitem(module._WORK, "keywords", work)
    monkeypatch.setattr(module, "source_commit", lambda: work.commit)
    return work


STAGE = make_stage("keywords", {})


def test_a_finished_stage_does_not_run_again(work, tmp_path):
    run_stage(STAGE, tmp_path)
    run_stage(STAGE, tmp_path)
    assert work.done == 1
    record = read_result(tmp_path, STAGE.id)
    assert (record["result"], record["resumed"], record["provenance"]["commit"]) == ({"figure": 1}, False, "a")
    assert "begun_with" not in record
    assert [path.name for path in stage_folder(tmp_path, STAGE.id).iterdir()] == ["result.json"]


@pytest.mark.parametrize("commit", ["a", "b"])
def test_an_interrupted_stage_names_the_code_that_began_it(work, tmp_path, commit):
    work.fails = True
    for attempt in ("a", "c"):  # neither finishes; the first is what the stage was begun with
        work.commit = attempt
        with pytest.raises(Interrupted):
            run_stage(STAGE, tmp_path)
    assert partial_folder(tmp_path, STAGE.id).is_dir() and not stage_folder(tmp_path, STAGE.id).exists()
    work.fails, work.commit = False, commit
    run_stage(STAGE, tmp_path)
    record = read_result(tmp_path, STAGE.id)
    assert record["resumed"] and record["provenance"]["commit"] == commit
    assert record.get("begun_with", {}).get("commit") == (None if commit == "a" else "a")
    assert not list(tmp_path.rglob("begun.json"))


def test_the_device_reaches_the_work(work, tmp_path):
    """It is not part of the stage: the same stage on another device does not run again."""
    run_stage(STAGE, tmp_path, "cuda:1")
    assert work.device == "cuda:1"
    run_stage(STAGE, tmp_path)
    assert work.done == 1


def test_a_record_is_json_with_the_whole_stage(work, tmp_path):
    run_stage(STAGE, tmp_path)
    content = json.loads((stage_folder(tmp_path, STAGE.id) / "result.json").read_text())
    assert {"id", "kind", "inputs", "depends_on", "result", "took", "resumed", "provenance", "ancestors"} <= set(
        content
    )
