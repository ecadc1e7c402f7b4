"""Whole ways through the command line: every method, pairs of texts, regression; train, predict, evaluate."""

from __future__ import annotations

import json

import pytest

from tests.cli.command_line import last_line, one_line, run, training_options, write_jsonl
from tests.conftest import make_corpus


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("methods")
    write_jsonl(folder / "train.jsonl", *make_corpus(60))
    write_jsonl(folder / "test.jsonl", *make_corpus(18, seed=1))
    write_jsonl(folder / "ood.jsonl", [f"xyzw qqq {n}" for n in range(9)])
    return folder


@pytest.mark.parametrize("method", ["residual", "openmax", "doc", "ocsvm", "linear"])
def test_train_predict_evaluate(method, folder, tiny_backbones):
    model = folder / method
    options = [*training_options(tiny_backbones["bert"]), "--method", method, "--keywords", "frequency"]
    done = run("train", str(folder / "train.jsonl"), "--output", str(model), *options)
    assert done.returncode == 0, done.stderr
    assert ("--keywords is ignored" in done.stderr) == (method != "residual")
    assert "validation accuracy" in done.stdout
    assert not (folder / f"{method}.partial").exists()
    rows = [json.loads(line) for line in run("predict", str(model), str(folder / "test.jsonl")).stdout.splitlines()]
    assert len(rows) == 18
    assert all(list(row) == ["label", "confidence", "p_value", "ood_score", "is_ood"] for row in rows)
    done = run(
        "evaluate", str(model), str(folder / "test.jsonl"), "--ood", str(folder / "ood.jsonl"),
        "--resamples", "5", "--json",
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert 0.0 <= report["ood"]["ood"]["auroc"]["value"] <= 1.0
    assert report["rejected"] == pytest.approx(sum(row["is_ood"] for row in rows) / 18)
    done = run("audit", str(model), str(folder / "test.jsonl"), "--json", "--output", str(folder / f"{method}-audit"))
    if method in ("ocsvm", "linear"):
        assert "has no network to audit" in one_line(done)
    else:
        assert 0.0 <= json.loads(done.stdout)["reliance"]["reliance"]["value"] <= 1.0


def test_what_a_model_without_a_network_refuses(folder, tiny_backbones):
    options = training_options(tiny_backbones["bert"])
    model = folder / "svm"
    run("train", str(folder / "train.jsonl"), "--output", str(model), *options, "--method", "ocsvm")
    assert "no network of its own" in one_line(run("export", str(model)))
    assert "method ocsvm" in one_line(run("keywords", str(model)))
    assert "backend 'onnx'" in one_line(run("predict", str(model), str(folder / "test.jsonl"), "--backend", "onnx"))


def test_pairs(tiny_backbones, tmp_path):
    texts, labels = make_corpus(45)
    data = write_jsonl(tmp_path / "pairs.jsonl", texts, labels, make_corpus(45, seed=2)[0])
    options = [*training_options(tiny_backbones["bert"]), "--epochs", "1", "--keywords", "frequency"]
    assert run("train", str(data), "--output", str(tmp_path / "pairs"), *options).returncode == 0
    rows = run("predict", str(tmp_path / "pairs"), str(data), "--limit", "3").stdout.splitlines()
    assert len(rows) == 3


def test_regression(tiny_backbones, tmp_path):
    texts, labels = make_corpus(45)
    pairs = make_corpus(45, seed=2)[0]
    scores = [float(["space", "food", "sport"].index(label)) for label in labels]
    data = write_jsonl(tmp_path / "scores.jsonl", texts, scores, pairs)
    options = [*training_options(tiny_backbones["bert"]), "--epochs", "2", "--head", "regression"]
    assert run("train", str(data), "--output", str(tmp_path / "scores"), *options).returncode == 0
    row = json.loads(run("predict", str(tmp_path / "scores"), str(data), "--limit", "1").stdout)
    assert isinstance(row["label"], float) and row["is_ood"] is None
    assert "leave --reject out" in last_line(run("predict", str(tmp_path / "scores"), str(data), "--reject"))
    report = json.loads(run("evaluate", str(tmp_path / "scores"), str(data), "--json").stdout)
    assert {"pearson", "spearman", "mse"} == set(report["regression"])
    assert "without --ood" in last_line(run("evaluate", str(tmp_path / "scores"), str(data), "--ood", str(data)))
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        write_jsonl(tmp_path / "in" / f"{name}.jsonl", texts, scores, pairs)
    shards = [str(tmp_path / "scores"), str(tmp_path / "in"), "--engine", "local", "--output", str(tmp_path / "out")]
    assert "leave --reject out" in last_line(run("predict", *shards, "--reject"))
