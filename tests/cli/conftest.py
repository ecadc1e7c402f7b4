"""Data files, and models that the command line trained once for all tests. Not to be changed: copy them first."""

from __future__ import annotations

import shutil

import pytest

from tests.cli.command_line import run, training_options, write_jsonl
from tests.conftest import make_corpus


@pytest.fixture(scope="session")
def masker_place(tmp_path_factory, tiny_backbones):
    """A MASKER model with the default options, what its training printed, and files to use it on."""
    folder = tmp_path_factory.mktemp("cli")
    texts, labels = make_corpus(90)
    write_jsonl(folder / "train.jsonl", texts, labels)
    texts, labels = make_corpus(30, seed=1)
    write_jsonl(folder / "test.jsonl", texts, labels)
    write_jsonl(folder / "ood.jsonl", [" ".join("xyzw" for _ in range(5)) + f" {n}" for n in range(20)])
    done = run(
        "train",
        str(folder / "train.jsonl"),
        "--output",
        str(folder / "model"),
        *training_options(tiny_backbones["bert"]),
    )
    assert done.returncode == 0, done.stderr
    (folder / "train.out").write_text(done.stdout)
    (folder / "train.err").write_text(done.stderr)
    return folder


@pytest.fixture(scope="session")
def score_place(tmp_path_factory, tiny_backbones):
    """A vanilla model with enough held-out documents to choose its score, at an operating point set by examples."""
    folder = tmp_path_factory.mktemp("scores")
    for name, count, seed in (("train", 240, 0), ("test", 60, 1), ("new", 90, 2)):
        write_jsonl(folder / f"{name}.jsonl", *make_corpus(count, seed=seed))
    write_jsonl(folder / "unlabelled.jsonl", make_corpus(60, seed=3)[0])
    write_jsonl(folder / "ood.jsonl", [f"zzz {'qqq ' * (n % 5)}{n}" for n in range(30)])
    options = [*training_options(tiny_backbones["bert"]), "--method", "vanilla", "--epochs", "8"]
    options += ["--set", "data.validation_fraction=0.4", "--set", "detection.calibration=split"]
    options += ["--ood-examples", str(folder / "ood.jsonl")]
    done = run("train", str(folder / "train.jsonl"), "--output", str(folder / "model"), *options)
    assert done.returncode == 0, done.stderr
    (folder / "train.out").write_text(done.stdout)
    return folder


@pytest.fixture
def score_model(score_place, tmp_path):
    """A copy of the vanilla model, to be changed."""
    return str(shutil.copytree(score_place / "model", tmp_path / "model"))
