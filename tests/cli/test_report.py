"""``masker report`` as typed, and the reports that other commands leave."""

from __future__ import annotations

import json
import shutil

import pytest

from masker.report import report_files
from tests.cli.command_line import last_line, one_line, run, training_options, write_jsonl
from tests.conftest import make_corpus

pytest.importorskip("matplotlib")
pytest.importorskip("openTSNE")


@pytest.fixture
def model(masker_place, tmp_path):
    """A copy of the MASKER model, to be changed."""
    return shutil.copytree(masker_place / "model", tmp_path / "model")


def test_a_report_beside_the_model(model, masker_place):
    test, ood = str(masker_place / "test.jsonl"), str(masker_place / "ood.jsonl")
    done = run("report", str(model), "--test", test, "--ood", ood, "--train", str(masker_place / "train.jsonl"),
               "--compare", str(masker_place / "model"), "--resamples", "20")  # fmt: skip
    assert done.returncode == 0, done.stderr
    folder = model.parent / "model.report"
    assert f"page:    {folder / 'report.html'}" in done.stdout and "Of 30 texts of test" in done.stdout
    figures = {path.stem for path in (folder / "figures").glob("*.svg")}
    assert figures == {path.stem for path in (folder / "figures").glob("*.png")}
    assert figures == {
        "classes", "confusion", "reliability", "risk-coverage", "score-histogram", "roc", "map-known-and-foreign",
        "keywords", "attended-words", "keyword-heat-map", "losses",
    }  # fmt: skip
    page = (folder / "report.html").read_text()
    assert all(f'<figure id="{name}"' in page for name in figures)
    assert "Measured on 30 texts of test" in (model / "README.md").read_text()


def test_json_without_texts(model, masker_place, tmp_path):
    test = masker_place / "test.jsonl"
    output = str(tmp_path / "out")
    done = run(
        "report", str(model), "--test", str(test), "--no-texts", "--json", "--output", output, "--resamples", "20"
    )
    content = json.loads(done.stdout)
    assert content["known"]["documents"] == 30 and content["risky"] == {}
    texts = [json.loads(line)["text"] for line in test.read_text().splitlines()]
    page = (tmp_path / "out" / "report.html").read_text()
    assert not any(text in done.stdout or text in page for text in texts)
    assert not (model.parent / "model.report").exists()


def test_training_leaves_a_report_and_a_card(tiny_backbones, tmp_path):
    """As typed by somebody who sets nothing else; no text is quoted."""
    texts, labels = make_corpus(36)
    write_jsonl(tmp_path / "train.jsonl", texts, labels)
    options = [option for option in training_options(tiny_backbones["bert"]) if option != "--no-report"]
    done = run("train", str(tmp_path / "train.jsonl"), "--output", str(tmp_path / "model"), *options, "--epochs", "1")
    assert done.returncode == 0, done.stderr
    page = tmp_path / "model.report" / "report.html"
    assert done.stdout.splitlines()[-1] == f"report: {page}"
    assert "36 held-out documents" in page.read_text()
    assert not any(text in page.read_text() for text in texts)
    assert "Trained on 36 texts of train" in (tmp_path / "model" / "README.md").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "model.report", "train.jsonl"]


def test_without_a_report_there_is_a_card(masker_place):
    assert (masker_place / "model" / "README.md").is_file() and not (masker_place / "model.report").exists()


def test_an_evaluation_with_a_report(model, masker_place):
    data = [str(model), str(masker_place / "test.jsonl"), "--ood", str(masker_place / "ood.jsonl")]
    plain = json.loads(run("evaluate", *data, "--json", "--resamples", "20").stdout)
    done = run("evaluate", *data, "--json", "--resamples", "20", "--report")
    found = json.loads(done.stdout)
    assert found.pop("provenance") and plain.pop("provenance")
    assert found == plain
    page = model.parent / "model.report" / "report.html"
    assert page.is_file() and f"report: {page}" in done.stderr


class TestRefused:
    """One line, exit code 2, nothing written."""

    def test_missing_packages(self, model, monkeypatch):
        monkeypatch.setattr(report_files, "find_spec", lambda name: None)
        message = one_line(run("report", str(model)))
        assert message.endswith("install what is missing with pip install 'masker[report]'")
        assert not (model.parent / "model.report").exists()

    def test_no_model(self, tmp_path):
        assert "there is no model folder" in one_line(run("report", str(tmp_path / "nowhere")))
        assert "lacks masker.json" in one_line(run("report", str(tmp_path)))
        assert list(tmp_path.iterdir()) == []

    def test_unknown_labels(self, model, tmp_path):
        write_jsonl(tmp_path / "t.jsonl", ["rocket", "guitar"], ["space", "music"])
        message = last_line(run("report", str(model), "--test", str(tmp_path / "t.jsonl")))
        assert "the model has no class 'music'" in message and "--ood" in message
        assert not (model.parent / "model.report").exists()

    def test_a_file_in_the_way(self, model, tmp_path):
        (tmp_path / "out").write_text("x")
        assert "is a file" in one_line(run("report", str(model), "--output", str(tmp_path / "out")))
