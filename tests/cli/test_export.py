"""``masker export`` and ``--backend``, on a tiny model."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.cli.command_line import one_line, run, training_options, write_jsonl
from tests.conftest import make_corpus


@pytest.fixture(scope="module")
def place(tmp_path_factory, tiny_backbones):
    """Data files, and a trained model without an export."""
    folder = tmp_path_factory.mktemp("export")
    write_jsonl(folder / "train.jsonl", *make_corpus(60))
    write_jsonl(folder / "test.jsonl", *make_corpus(30, seed=1))
    write_jsonl(folder / "ood.jsonl", [f"xyzw xyzw {n}" for n in range(20)])
    options = [*training_options(tiny_backbones["bert"]), "--method", "vanilla", "--epochs", "1"]
    done = run("train", str(folder / "train.jsonl"), "--output", str(folder / "plain"), *options)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def model(place):
    """The model with both graphs; the output of the command is kept beside it."""
    shutil.copytree(place / "plain", place / "model")
    done = run("export", str(place / "model"), "--format", "onnx", "--int8")
    assert done.returncode == 0, done.stderr
    (place / "export.out").write_text(done.stdout)
    (place / "export.err").write_text(done.stderr)
    return place / "model"


def test_export_says_what_it_made_and_what_it_did_not_measure(place, model):
    out, err = (place / "export.out").read_text(), (place / "export.err").read_text()
    assert "onnx-int8" in out and "max Δ logit" in out
    assert "--backend onnx-int8" in out
    assert "compared with PyTorch" not in out
    last = err.splitlines()[-1]
    assert "not measured" in last and "--check" in last
    assert "Warning" not in err and "Traceback" not in err
    assert sorted(path.name for path in (model / "onnx").iterdir()) == ["export.json", "model.int8.onnx", "model.onnx"]


def test_check_as_json(place, tmp_path):
    done = run(
        *("export", str(place / "plain"), "--int8", "--output", str(tmp_path / "served"), "--json"),
        *("--check", str(place / "test.jsonl"), "--ood", str(place / "ood.jsonl"), "--limit", "12"),
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert set(report["files"]) == {"onnx", "onnx-int8"}
    assert report["files"]["onnx"]["max_logit_difference"] <= 1e-4
    agreement = report["agreement"]
    assert list(agreement["documents"].values()) == [12, 12]
    assert list(agreement["backends"]) == ["torch", "onnx", "onnx-int8"]
    assert agreement["backends"]["onnx"]["label_agreement"] == 1.0
    assert agreement["backends"]["onnx"]["max_confidence_difference"] < 1e-4
    assert agreement["backends"]["onnx"]["accuracy"] == agreement["backends"]["torch"]["accuracy"]
    assert 0 <= agreement["backends"]["onnx-int8"]["auroc"]["ood"] <= 1
    assert json.loads((tmp_path / "served" / "onnx" / "export.json").read_text())["agreement"] == agreement
    assert "not measured" not in done.stderr
    rows = run("predict", str(tmp_path / "served"), str(place / "test.jsonl")).stdout.splitlines()
    assert len(rows) == 30


def test_check_as_a_table(place, tmp_path):
    done = run(
        *("export", str(place / "plain"), "--output", str(tmp_path / "served")),
        *("--check", str(place / "test.jsonl"), "--ood", str(place / "ood.jsonl")),
    )
    for heading in ("same label", "same is_ood", "max Δ confidence", "accuracy", "AUROC ood"):
        assert heading in done.stdout
    assert "torch" in done.stdout


@pytest.mark.parametrize("backend", ["onnx", "onnx-int8"])
def test_predict_and_evaluate_with_a_backend(place, model, backend):
    data = str(place / "test.jsonl")
    expected, rows = (
        [json.loads(line) for line in run("predict", str(model), data, "--backend", name).stdout.splitlines()]
        for name in ("torch", backend)
    )
    assert len(rows) == 30
    assert rows != expected, "another engine differs in the last digits"
    for row, other in zip(rows, expected, strict=True):
        assert row["confidence"] == pytest.approx(other["confidence"], abs=1e-4 if backend == "onnx" else 0.1)
    report = json.loads(run("evaluate", str(model), data, "--backend", backend, "--json").stdout)
    assert 0 <= report["classification"]["accuracy"]["value"] <= 1


class TestRefused:
    """One line, exit code 2, nothing written."""

    def test_backend_that_was_not_exported(self, place):
        for command in ("predict", "evaluate"):
            done = run(command, str(place / "plain"), str(place / "test.jsonl"), "--backend", "onnx-int8")
            assert f"masker export {place / 'plain'} --format onnx --int8" in one_line(done)

    def test_ood_without_check(self, place):
        assert "--check" in one_line(run("export", str(place / "plain"), "--ood", str(place / "ood.jsonl")))
        assert not (place / "plain" / "onnx").exists()

    def test_missing_data(self, place, tmp_path):
        done = run("export", str(place / "plain"), "--output", str(tmp_path / "m"), "--check", str(tmp_path / "no.csv"))
        assert "no.csv" in one_line(done)
        assert list(tmp_path.iterdir()) == []

    def test_missing_model(self, tmp_path):
        assert "masker train" in one_line(run("export", str(tmp_path / "none")))

    def test_existing_output(self, place):
        assert "already exists" in one_line(run("export", str(place / "plain"), "--output", str(place)))

    def test_other_format(self, place):
        done = run("export", str(place / "plain"), "--format", "tflite")
        assert done.returncode == 2 and "onnx" in done.stderr
