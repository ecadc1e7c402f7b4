"""``masker predict`` as typed."""

from __future__ import annotations

import csv
import io
import json
import pickle
import shutil
import subprocess
import sys

import pytest

from masker.cli import main
from tests.cli.command_line import one_line, predictions, run
from tests.conftest import make_corpus


def test_jsonl_from_a_file(masker_place):
    rows = predictions(str(masker_place / "model"), str(masker_place / "test.jsonl"))
    assert len(rows) == 30
    for row in rows:
        assert list(row) == ["label", "confidence", "p_value", "ood_score", "is_ood"]
        assert row["label"] in {"space", "food", "sport"}
        assert 0 < row["p_value"] <= 1 and 0 < row["confidence"] < 1
        assert isinstance(row["is_ood"], bool)


def test_csv_from_standard_input_with_text(masker_place):
    text = "rocket moon\nbread soup\n"
    done = run("predict", str(masker_place / "model"), "-", "--format", "csv", "--with-text", text=text)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["text"] for row in rows] == ["rocket moon", "bread soup"]
    assert list(rows[0]) == ["text", "label", "confidence", "p_value", "ood_score", "is_ood"]


def test_a_file_is_written_whole_or_not_at_all(masker_place, tmp_path):
    model, data = str(masker_place / "model"), str(masker_place / "test.jsonl")
    target = tmp_path / "sub" / "out.jsonl"
    done = run("predict", model, data, "--output", str(target), "--limit", "7")
    assert done.returncode == 0 and done.stdout == ""
    assert len(target.read_text().splitlines()) == 7
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"text": "fine"}\n{"text": \n')
    again = run("predict", model, str(broken), "--output", str(target))
    assert again.returncode == 2
    assert len(target.read_text().splitlines()) == 7, "the old file is untouched"
    assert [path.name for path in target.parent.iterdir()] == ["out.jsonl"]
    folder = run("predict", model, data, "--output", str(tmp_path))
    assert "is a folder; name a file in it" in one_line(folder)


def test_it_survives_a_reader_that_leaves(masker_place):
    model, data = masker_place / "model", masker_place / "test.jsonl"
    command = f"{sys.executable} -c 'from masker.cli import main; main()' predict {model} {data}"
    done = subprocess.run(f"{command} | head -1", shell=True, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["label"]
    assert "Traceback" not in done.stderr


def test_texts_are_written_unchanged_whatever_the_locale(masker_place, tmp_path, monkeypatch):
    source = tmp_path / "texts.jsonl"
    source.write_text('{"text": "soup \u4e2d"}\n{"text": " "}\n', encoding="utf-8")
    written = io.BytesIO()
    words = ["predict", str(masker_place / "model"), str(source), "--with-text", "--skip-invalid"]
    monkeypatch.setattr(sys, "argv", ["masker", *words])
    with io.TextIOWrapper(written, encoding="latin-1") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        main()
        terminal.flush()
        (line,) = written.getvalue().decode("utf-8").splitlines()
    assert json.loads(line)["text"] == "soup \u4e2d"


def test_rows_chosen_by_a_column(masker_place, tmp_path):
    texts, _ = make_corpus(12, seed=3)
    rows = [{"text": text, "genre": ["telephone", "letters"][n % 2]} for n, text in enumerate(texts)]
    path = tmp_path / "genres.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = str(masker_place / "model")
    predicted = predictions(model, str(path), "--where", "genre=telephone", "--with-text")
    assert [row["text"] for row in predicted] == [row["text"] for row in rows if row["genre"] == "telephone"]
    assert "--where takes COLUMN=VALUE" in one_line(run("predict", model, str(path), "--where", "genre"))


def test_reject_and_another_score(score_place):
    model, data = str(score_place / "model"), str(score_place / "ood.jsonl")
    plain, rejected = predictions(model, data), predictions(model, data, "--reject")
    assert [row["label"] is None for row in rejected] == [row["is_ood"] for row in plain]
    assert all(row["label"] is not None for row in plain)
    energy = predictions(model, data, "--score", "energy", "--false-alarm-rate", "0.5")
    assert [row["ood_score"] for row in energy] != [row["ood_score"] for row in plain]
    assert all(row["is_ood"] == (row["p_value"] <= 0.5) for row in energy)
    assert "Did you mean 'energy'" in one_line(run("predict", model, data, "--score", "enrgy"))


def test_shards_carry_p_values_and_reject(score_place, tmp_path):
    (tmp_path / "in").mkdir()
    shutil.copy(score_place / "ood.jsonl", tmp_path / "in" / "a.jsonl")
    args = [str(score_place / "model"), str(tmp_path / "in"), "--engine", "local", "--output", str(tmp_path / "out")]

    def rows(*options: str) -> list[dict]:
        done = run("predict", *args, *options)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in (tmp_path / "out" / "a.jsonl").read_text().splitlines()]

    plain = rows()
    assert plain == predictions(str(score_place / "model"), str(score_place / "ood.jsonl"))
    rejected = rows("--reject")
    assert [row["label"] is None for row in rejected] == [row["is_ood"] for row in plain]
    assert rows("--score", "energy")[0]["ood_score"] != plain[0]["ood_score"], "made again for another score"


def test_options_of_an_engine_need_one(masker_place):
    model, data = str(masker_place / "model"), str(masker_place / "test.jsonl")
    assert "--engine ray" in one_line(run("predict", model, data, "--workers", "2"))
    assert "--engine ray" in one_line(run("predict", model, data, "--engine", "local", "--address", "here:1"))
    assert "--output" in one_line(run("predict", model, data, "--engine", "local"))


def test_a_folder_that_is_no_model(masker_place, tmp_path):
    data = str(masker_place / "test.jsonl")
    assert "masker train" in one_line(run("predict", str(tmp_path / "none"), data))
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "config.json").write_text("{}")
    assert "masker.json" in one_line(run("predict", str(tmp_path / "foreign"), data))


@pytest.mark.parametrize("damage", ["weights", "manifest", "tensors", "config", "pickle"])
def test_a_damaged_model_folder(masker_place, tmp_path, damage):
    folder = tmp_path / "model"
    shutil.copytree(masker_place / "model", folder)
    name = {"weights": "model.safetensors", "manifest": "masker.json", "tensors": "masker.safetensors"}
    if damage == "pickle":
        (folder / "notes.txt").write_bytes(pickle.dumps({"a": 1}))
    elif damage == "config":
        (folder / "config.json").write_text("not json")
    else:
        path = folder / name[damage]
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    message = one_line(run("predict", str(folder), str(masker_place / "test.jsonl")))
    assert str(folder) in message
    assert damage != "pickle" or "pickle" in message
