"""``masker demo`` as typed, on a made-up corpus with a tiny encoder."""

from __future__ import annotations

import json

import pytest

from masker.config import build_settings
from masker.documents import Documents
from masker.experiments import demo
from masker.report import demo_summary, report_console
from tests.cli.command_line import one_line, run
from tests.conftest import make_corpus
from tests.fake_device import NAME, fake_device


@pytest.fixture
def small(monkeypatch, tiny_backbones):
    """``small(seed=…)``: the demonstration with other settings."""
    texts, labels = make_corpus(140)
    strange = Documents([f"zzz qqq {n}" for n in range(10)], None, None, "strange")
    data = demo.DemoData(
        Documents(texts[:120], None, labels[:120], "train"),
        Documents(texts[120:], None, labels[120:], "test"),
        {"strange": strange},
    )
    monkeypatch.setattr(demo, "load_demo_data", lambda: data)

    def choose(**training):
        settings = {
            "model": {"backbone": str(tiny_backbones["bert"]), "max_length": 24},
            "training": {"epochs": 1, "batch_size": 32, "precision": "fp32", **training},
        }
        monkeypatch.setattr(demo, "Settings", lambda: build_settings(settings))
        split = {"detection": {"calibration": "split", "confidence": 0.95}, "data": {"validation_fraction": 0.3}}
        monkeypatch.setattr(demo, "DEMO_SETTINGS", {**settings, **split})

    choose()
    return choose


def leave_unfinished(monkeypatch, output) -> None:
    """A demonstration that ends before its second model, the first of the comparison, is saved."""
    save = demo.Model.save

    def fail(model, folder, **options):
        if folder.name != "support":
            raise OSError("power cut")
        return save(model, folder, **options)

    with monkeypatch.context() as patch:
        patch.setattr(demo.Model, "save", fail)
        assert "power cut" in run("demo", "--output", output).stderr


def test_it_resumes_its_own_unfinished_run_only(small, monkeypatch, tmp_path):
    output = str(tmp_path / "demo")
    leave_unfinished(monkeypatch, output)
    result = tmp_path / "demo" / "vanilla.partial" / "vanilla" / "result.safetensors"
    before = result.stat().st_mtime_ns
    small(seed=3)
    refused = one_line(run("demo", "--output", output))
    assert "support.partial' holds an unfinished run with other data or settings" in refused
    assert "--restart" in refused and result.stat().st_mtime_ns == before
    small()
    done = run("demo", "--output", output)
    assert done.returncode == 0, done.stderr
    assert "resuming the unfinished run in" in done.stderr
    assert "what a final" in done.stdout and "masker, auto" in done.stdout
    left = sorted(path.name for path in (tmp_path / "demo").iterdir())
    assert left == ["masker", "report", "results.json", "support", "vanilla"]
    page = tmp_path / "demo" / "report" / "report.html"
    assert done.stdout.splitlines()[-1] == f"report: {page}"
    figures = {path.stem for path in (page.parent / "figures").glob("*.png")}
    assert {"roc", "attended-words", "map-known-and-foreign", "losses"} <= figures


def test_restart_discards_another_one(small, monkeypatch, tmp_path):
    output = str(tmp_path / "demo")
    leave_unfinished(monkeypatch, output)
    small(seed=3)
    done = run("demo", "--output", output, "--restart")
    assert done.returncode == 0, done.stderr
    assert "resuming" not in done.stderr
    manifest = json.loads((tmp_path / "demo" / "vanilla" / "masker.json").read_text())
    assert manifest["settings"]["training"]["seed"] == 3


def test_its_options_reach_it(monkeypatch):
    given = []
    fake_device(monkeypatch)
    monkeypatch.setattr(demo, "run_demo", lambda output, **options: given.append((output, options)))
    monkeypatch.setattr(demo_summary, "print_demo", lambda result: None)
    monkeypatch.setattr(report_console, "report_demo", lambda result: None)
    assert run("demo", "--device", NAME, "--output", "here", "--restart").returncode == 0
    assert given == [("here", {"device": NAME, "restart": True})]
