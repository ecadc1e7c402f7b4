"""``masker audit`` as typed."""

from __future__ import annotations

import json

import pytest

from tests.audit.conftest import CLASSES, tiny_classifiers  # noqa: F401
from tests.cli.command_line import one_line, run, training_options, write_jsonl
from tests.conftest import make_corpus


@pytest.fixture(scope="module")
def place(tmp_path_factory, tiny_backbones):
    folder = tmp_path_factory.mktemp("audit")
    texts, labels = make_corpus(90)
    write_jsonl(folder / "train.jsonl", texts, labels)
    texts, labels = make_corpus(60, seed=1)
    write_jsonl(folder / "test.jsonl", texts, labels)
    write_jsonl(folder / "other.jsonl", ["a rocket and some soup"] * 3)
    for method in ("vanilla", "masker"):
        done = run(
            *("train", str(folder / "train.jsonl"), "--output", str(folder / method), "--method", method),
            *training_options(tiny_backbones["bert"]),
        )
        assert done.returncode == 0, done.stderr
    return folder


def test_two_masker_models(place, tmp_path):
    done = run(
        *("audit", str(place / "vanilla"), str(place / "test.jsonl"), "--against", str(place / "masker")),
        *("--other", str(place / "other.jsonl"), "--output", str(tmp_path / "out"), "--json", "--per-class", "4"),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found == json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))
    assert found["audit"]["model"] == "vanilla" and found["against"]["model"] == "masker"
    assert found["audit"]["max_length"] == 48, "as in its training"
    for part in ("reliance", "kept", "lost"):
        difference = found["audit"]["reliance"][part]["value"] - found["against"]["reliance"][part]["value"]
        assert found["difference"][part]["value"] == pytest.approx(difference)
    assert found["audit"]["other"].endswith("other.jsonl")
    page = (tmp_path / "out" / "audit.html").read_text(encoding="utf-8")
    assert "vanilla against masker" in page
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["audit.html", "audit.json"]
    assert "audit vanilla" in done.stderr and "100%" in done.stderr


def test_a_plain_folder_prints_tables(place, tiny_classifiers, tmp_path):  # noqa: F811
    done = run(
        *("audit", str(tiny_classifiers["roberta"]), str(place / "test.jsonl"), "--output", str(tmp_path / "out")),
        *("--keywords", "attention", "--masking", "mask"),
    )
    assert done.returncode == 0, done.stderr
    assert "reliance on attention keywords" in done.stdout and "all but the keywords" in done.stdout
    assert all(f"{name}:" in done.stdout for name in CLASSES)
    assert str(tmp_path / "out" / "audit.html") in done.stdout.replace("\n", "")


def test_keywords_that_a_model_was_trained_with(place, tmp_path):
    done = run(
        *("audit", str(place / "vanilla"), str(place / "test.jsonl"), "--output", str(tmp_path / "out"), "--json"),
        *("--keywords", str(place / "masker")),
    )
    assert done.returncode == 0, done.stderr
    trained_with = {
        row["word"] for row in json.loads((place / "masker" / "masker.json").read_text())["keywords"]["keywords"]
    }
    used = {row["word"] for rows in json.loads(done.stdout)["keywords"].values() for row in rows}
    assert used and used <= trained_with


def test_bad_inputs_are_one_line_and_leave_nothing(place, tiny_backbones, tmp_path):
    test, out = str(place / "test.jsonl"), str(tmp_path / "out")
    wrong = write_jsonl(tmp_path / "wrong.jsonl", ["a", "b"], ["red", "blue"])
    a_file = tmp_path / "file"
    a_file.write_text("")
    for words, arguments in (
        ("no trained classification head", (tiny_backbones["bert"], test)),
        ("'blue', 'red' are not among the model's outputs", (str(place / "vanilla"), str(wrong))),
        ("--labels must give the model's 3 outputs", (str(place / "vanilla"), test, "--labels", "a,b")),
        ("was trained without keywords", (str(place / "vanilla"), test, "--keywords", str(place / "vanilla"))),
        ("got 'atention', which is none of them", (str(place / "vanilla"), test, "--keywords", "atention")),
        ("device must be auto, cpu", (str(place / "vanilla"), test, "--device", "gpu")),
        ("neither a model folder", (str(tmp_path / "absent"), test)),
    ):
        assert words in one_line(run("audit", *arguments, "--output", out))
    for output in (a_file, a_file / "below"):
        assert "is a file" in one_line(run("audit", str(place / "vanilla"), test, "--output", str(output)))
    assert not (tmp_path / "out").exists()
