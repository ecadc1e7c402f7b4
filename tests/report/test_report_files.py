"""The files of a report."""

from __future__ import annotations

import importlib.util
import json
import xml.etree.ElementTree as ElementTree

import pytest

from masker.analysis.report_data import Report
from masker.errors import MissingPackageError
from masker.report import report_files
from masker.report.report_files import missing_packages, report_folder, require_packages, write_report_files
from tests.report.made_report import HOSTILE, class_names, made_report

EVERY = {
    "classes", "reliability", "risk-coverage", "confusion", "score-histogram", "roc", "map-known-and-foreign",
    "keywords", "attended-words", "keyword-heat-map", "losses",
}  # fmt: skip


def test_every_figure_is_written_in_both_forms(tmp_path):
    pytest.importorskip("matplotlib")
    report = made_report(HOSTILE)
    files = write_report_files(report, tmp_path / "new" / "out")
    folder = tmp_path / "new" / "out"
    assert files.page == folder / "report.html" and set(files.figures) == EVERY
    for name in EVERY:
        assert (folder / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        ElementTree.parse(folder / "figures" / f"{name}.svg")
    assert json.loads((folder / "report.json").read_text()) == json.loads(json.dumps(report.to_json()))
    assert sorted(path.name for path in folder.iterdir()) == ["figures", "report.html", "report.json"]


def test_figures_of_an_earlier_report_go_and_other_files_stay(tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "figures").mkdir()
    for name in ("figures/old.svg", "figures/old.png", "figures/note.txt", "mine.txt"):
        (tmp_path / name).write_text("x")
    made = made_report(class_names(2))
    assert write_report_files(Report(made.model, [], None, losses=made.losses, settings=made.settings), tmp_path)
    left = {path.name for path in (tmp_path / "figures").iterdir()}
    assert left == {"note.txt", "losses.svg", "losses.png"}
    assert (tmp_path / "mine.txt").is_file()


def test_where_a_report_goes(tmp_path, monkeypatch):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "masker.json").write_text("{}")
    assert report_folder(tmp_path / "model") == tmp_path / "model.report"
    assert report_folder(tmp_path) == tmp_path / "report", "into the folder of a run"
    monkeypatch.chdir(tmp_path / "model")
    assert report_folder(".") == tmp_path / "model.report"


def test_what_is_missing_is_named(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(report_files, "find_spec", lambda name: None if name == "jinja2" else found(name))
    assert missing_packages() == ["jinja2"]
    with pytest.raises(MissingPackageError, match=r"a report needs jinja2; .* pip install 'masker\[report\]'"):
        require_packages()

    def refuse(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(report_files, "find_spec", refuse)
    assert missing_packages() == ["jinja2", "matplotlib", "openTSNE"]
