"""The examples run from start to finish, with a tiny encoder; the notebook cell by cell."""

from __future__ import annotations

import json
import runpy
import sys

import pytest

from tests.pages import ROOT

FOLDER = ROOT / "examples"
#: What each script must have printed.
PRINTED = {
    "support_desk.py": "p-value",
    "route_a_file.py": "for-people.csv",
    "own_score.py": "threshold",
    "watch_traffic.py": "Alarm",
    "serve_and_ask.py": "How do I bake sourdough bread?",
}
#: Run by a test of its own, with its data.
ELSEWHERE = {"open_world.py"}


@pytest.mark.parametrize("name", PRINTED)
def test_scripts_run(name, quick_trainings, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, str(tmp_path / "made")])
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    assert PRINTED[name] in capsys.readouterr().out
    assert any((tmp_path / "made").iterdir())


def test_the_notebook_runs(quick_trainings, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cells = json.loads((FOLDER / "choose_a_threshold.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None  # outputs of one machine are not kept
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    assert capsys.readouterr().out.count("asked for") == 4


def test_every_example_is_run_and_listed():
    scripts = {path.name for path in FOLDER.glob("*.py")}
    assert scripts - ELSEWHERE == set(PRINTED)
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for path in FOLDER.iterdir():
        assert path.name == "README.md" or f"({path.name})" in page, f"{path.name} is not in examples/README.md"
