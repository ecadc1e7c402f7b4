"""What commands leave and print."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest

from masker.analysis.report_data import Report
from masker.report import report_console, report_files
from masker.report.report_console import print_report, refresh_card, report_training
from masker.report.report_files import ReportFiles
from tests.report.made_report import class_names, made_report

MADE = made_report(class_names(3))
#: One figure is enough here.
REPORT = Report(MADE.model, MADE.conclusion, None, losses=MADE.losses, settings=MADE.settings)


@pytest.fixture
def summary(tmp_path, monkeypatch):
    """A finished training whose report was made up; ``asked`` are the documents that it was made from."""
    asked = []
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "masker.json").write_text("{}")
    monkeypatch.setattr(
        report_console, "report_on", lambda model, documents, options: asked.append(documents) or REPORT
    )
    return SimpleNamespace(model=None, folder=tmp_path / "model", data="training documents", asked=asked)


def test_the_conclusion_and_the_places_are_printed(capsys):
    print_report(REPORT, ReportFiles(Path("out/report.html"), ["a", "b"]))
    out = capsys.readouterr().out
    assert REPORT.conclusion[0] in " ".join(out.split())
    assert "page:    out/report.html" in out and "figures: out/figures (2, as SVG and PNG)" in out


def test_training_leaves_a_card_and_a_report(summary, capsys):
    pytest.importorskip("matplotlib")
    report_training(summary, with_page=True)
    assert summary.asked[0].train == "training documents" and summary.asked[0].test is None
    assert (summary.folder / "README.md").is_file()
    page = summary.folder.parent / "model.report" / "report.html"
    assert page.is_file() and f"report: {page}" in capsys.readouterr().out


def test_a_report_that_is_not_wanted_costs_nothing(summary, capsys):
    report_training(summary, with_page=False)
    assert summary.asked[0].train is None
    assert (summary.folder / "README.md").is_file() and not (summary.folder.parent / "model.report").exists()
    assert capsys.readouterr().out == ""


def test_missing_packages_are_one_line(summary, monkeypatch, caplog):
    monkeypatch.setattr(report_files, "find_spec", lambda name: None)
    report_training(summary, with_page=True)
    [record] = caplog.records
    assert record.message == (
        "no report, because jinja2 and matplotlib and openTSNE is not installed: pip install 'masker[report]', then "
        f"masker report {summary.folder}"
    )
    assert (summary.folder / "README.md").is_file()


def test_on_several_processes_no_attention_is_read(summary, monkeypatch):
    """The others have ended: waiting for them would take forever."""
    monkeypatch.setattr(report_console.distributed, "world_size", lambda: 2)
    monkeypatch.setattr(report_console, "write_report_files", lambda report, folder: ReportFiles(folder, []))
    report_training(summary, with_page=True)
    assert summary.asked[0].train is None


def test_a_problem_with_the_report_is_a_warning(summary, monkeypatch, caplog):
    def fail(report, folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(report_console, "write_report_files", fail)
    report_training(summary, with_page=True)
    assert "no report on" in caplog.text and "Permission denied" in caplog.text


def test_a_card_that_cannot_be_replaced_is_a_warning(tmp_path, caplog, monkeypatch):
    (tmp_path / "README.md").write_text("mine")
    with caplog.at_level(logging.INFO, logger="masker"):
        refresh_card(REPORT, tmp_path)
    assert "was not written by masker and stays" in caplog.text

    def refuse(report, folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(report_console, "write_model_card", refuse)
    refresh_card(REPORT, tmp_path)
    assert "cannot be written (Permission denied)" in caplog.text
