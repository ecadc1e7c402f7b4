"""The way of a task through a system's process into rows of JSON, with a system that trains nothing."""

from __future__ import annotations

import json
import os
import sys

import pytest

from benchmarks import short_texts
from benchmarks.short_texts import Case, measure, missing, run_system, same_cores

FAKE = """
import json, os, sys, time
task = json.load(open(sys.argv[1]))
result = {
    "seconds": 2.0, "load_seconds": 0.5, "import_seconds": 0.25, "trained_at": time.time(), "threads": task["threads"],
    "versions": {"fake": "1"}, "accuracy": 2 / 3,
    "auroc": {name: {"own score": len(texts) / 10} for name, texts in task["ood"].items()},
    "seen": {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "HF_HUB_OFFLINE", "GOMP_SPINCOUNT")},
}
json.dump(result, open(sys.argv[2], "w"))
"""


def task_of(seed):
    return {
        "train": {"texts": ["a", "b", "c"], "labels": ["x", "y", "x"]},
        "test": {"texts": ["d"], "labels": ["x"]},
        "ood": {"other text": ["e"] * (seed + 1)},
    }


@pytest.fixture
def fake(tmp_path):
    script = tmp_path / "fake.py"
    script.write_text(FAKE)
    return [sys.executable, str(script)]


@pytest.fixture(autouse=True)
def no_encoder(monkeypatch):
    monkeypatch.setattr("masker.modeling.embedded.embedded_folder", lambda name: f"encoder of {name}")


def test_rows_of_all_systems_and_seeds_are_written(fake, tmp_path):
    output = tmp_path / "new" / "rows.json"
    cases = [Case("one", (), task_of, ("default", "linear", "SetFit")), Case("two", (), task_of, ("default",))]
    measure(cases, {"default": fake, "SetFit": fake}, [0, 3], 5, output)
    (results,) = json.loads(output.read_text())["processors"].values()
    rows = results["rows"]
    assert [(row["case"], row["seed"], row["system"]) for row in rows] == [
        ("one", 0, "default"),
        ("one", 0, "SetFit"),
        ("one", 3, "default"),
        ("one", 3, "SetFit"),
        ("two", 0, "default"),
        ("two", 3, "default"),
    ]
    assert rows[2]["auroc"] == {"other text": {"own score": 0.4}}
    assert rows[0]["accuracy"] == 0.6667
    assert (rows[0]["texts"], rows[0]["classes"]) == (3, 2)
    origin = results["provenance"]
    assert origin["systems"] == {"default": {"fake": "1"}, "SetFit": {"fake": "1"}}
    assert (origin["max_steps"], origin["seeds"], origin["threads"]) == (5, [0, 3], 2)


def test_a_new_run_keeps_the_rows_of_other_processors(fake, tmp_path):
    output = tmp_path / "rows.json"
    output.write_text(json.dumps({"processors": {"another": {"rows": [], "provenance": {}}}}))
    measure([Case("one", (), task_of, ("default",))], {"default": fake}, [0], 5, output)
    assert len(json.loads(output.read_text())["processors"]) == 2


def test_a_system_starts_without_what_masker_sets_for_threads(fake, monkeypatch):
    monkeypatch.setenv("GOMP_SPINCOUNT", "1000")
    result = run_system(fake, {**task_of(0), "threads": 2})
    assert result["seen"] == {"OMP_NUM_THREADS": "2", "HF_HUB_OFFLINE": "1", "GOMP_SPINCOUNT": None}
    assert 0 < result["total_seconds"] < 60
    assert "trained_at" not in result


def test_a_failing_system_says_why(tmp_path):
    with pytest.raises(RuntimeError, match="no such luck"):
        run_system([sys.executable, "-c", "raise SystemExit('no such luck')"], {**task_of(0), "threads": 2})


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system has no affinity of processes")
def test_cores_are_given_back():
    before = os.sched_getaffinity(0)
    with same_cores(1):
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


@pytest.fixture
def corpora(tmp_path, monkeypatch):
    monkeypatch.setenv("MASKER_DATA", str(tmp_path))
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MASKER_SETFIT_VENV", str(tmp_path / "venv"))
    return tmp_path


def test_without_corpora_or_environment_one_line_says_so(corpora, capsys):
    case = Case("one", ("mine",), task_of)
    assert "no corpus mine" in missing([case], ["default"])
    (corpora / "mine.train.jsonl.gz").touch()
    assert missing([case], ["default"]) is None
    assert "benchmarks.environments setfit" in missing([case], ["default", "SetFit"])
    short_texts.run(1)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("short-texts skipped: no corpus hint3-curekart")
