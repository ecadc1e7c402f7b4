"""Every method from the command line: train, predict, evaluate."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from masker.cli.options import BACKENDS, HEADS
from masker.config import Head
from masker.inference.backend import BackendName
from masker.registry import METHODS
from tests.cli.test_commands import one_line, run, training_options, write_jsonl
from tests.conftest import make_corpus


def test_choices_are_those_of_the_settings():
    assert get_args(Head) == HEADS
    assert get_args(BackendName) == BACKENDS
    text = " ".join(run("train", "--help").stdout.split())
    assert all(name in text for name in METHODS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("methods")
    write_jsonl(folder / "train.jsonl", *make_corpus(60))
    write_jsonl(folder / "test.jsonl", *make_corpus(18, seed=1))
    write_jsonl(folder / "ood.jsonl", [f"xyzw qqq {n}" for n in range(9)])
    return folder


@pytest.mark.parametrize("method", ["residual", "openmax", "doc", "ocsvm"])
def test_train_predict_evaluate(method, folder, tiny_backbones):
    model = folder / method
    options = [*training_options(tiny_backbones["bert"]), "--method", method, "--keywords", "frequency"]
    done = run("train", str(folder / "train.jsonl"), "--output", str(model), *options)
    assert done.returncode == 0, done.stderr
    assert ("--keywords is not used" in done.stderr) == (method != "residual")
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
    if method == "ocsvm":
        assert "has no network to audit" in one_line(done)
    else:
        assert 0.0 <= json.loads(done.stdout)["reliance"]["reliance"]["value"] <= 1.0


def test_refusals_are_one_line(folder, tiny_backbones):
    train = ["train", str(folder / "train.jsonl"), "--output", str(folder / "none")]
    options = training_options(tiny_backbones["bert"])
    assert "multi-class" in one_line(run(*train, *options, "--method", "openmax", "--head", "one-vs-rest"))
    assert "residual" in one_line(run(*train, *options, "--method", "residual", "--head", "regression"))
    model = folder / "svm"
    run("train", str(folder / "train.jsonl"), "--output", str(model), *options, "--method", "ocsvm")
    assert "no network of its own" in one_line(run("export", str(model)))
    assert "method ocsvm" in one_line(run("keywords", str(model)))
    assert "backend 'onnx'" in one_line(run("predict", str(model), str(folder / "test.jsonl"), "--backend", "onnx"))
    assert not (folder / "none").exists() and not (folder / "none.partial").exists()
