"""``masker extend``, and the whole loop."""

from __future__ import annotations

import csv
import json

from tests.cli.command_line import last_line, one_line, run, write_jsonl
from tests.conftest import make_corpus

MUSIC = {"music": ["guitar", "violin", "melody", "concert", "drum", "choir"]}


def test_rejects_are_grouped_named_and_learnt(masker_place, tmp_path):
    """discover -> name -> extend: texts of the new class are answered with its name."""
    model, texts = str(masker_place / "model"), make_corpus(40, seed=3, topics=MUSIC)[0]
    data, groups = write_jsonl(tmp_path / "new.jsonl", texts), tmp_path / "groups"
    done = run("discover", model, str(data), "--all", "--max-groups", "1", "--output", str(groups))
    assert done.returncode == 0, done.stderr
    with (groups / "texts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 30
    named = write_jsonl(tmp_path / "named.jsonl", [row["text"] for row in rows], ["music"] * len(rows))
    done = run("extend", model, str(named), "--output", str(tmp_path / "model2"))
    assert done.returncode == 0, done.stderr
    assert f"added {len(rows)} texts of 1 class, 1 of them new" in done.stdout and "4 in all" in done.stdout
    asked = write_jsonl(tmp_path / "asked.jsonl", make_corpus(30, seed=9, topics=MUSIC)[0])
    answers = [json.loads(line) for line in run("predict", str(tmp_path / "model2"), str(asked)).stdout.splitlines()]
    assert sum(row["label"] == "music" for row in answers) >= 24
    before = [json.loads(line) for line in run("predict", model, str(masker_place / "test.jsonl")).stdout.splitlines()]
    after = run("predict", str(tmp_path / "model2"), str(masker_place / "test.jsonl")).stdout.splitlines()
    same = sum(old["label"] == json.loads(new)["label"] for old, new in zip(before, after, strict=True))
    assert same >= 0.9 * len(before)


def test_a_folder_can_be_replaced(masker_place, tmp_path):
    import shutil

    model = shutil.copytree(masker_place / "model", tmp_path / "model")
    (model / "notes.txt").write_text("ours")
    (model / "onnx").mkdir()
    data = write_jsonl(tmp_path / "new.jsonl", *make_corpus(12, seed=3, topics=MUSIC))
    report = json.loads(run("extend", str(model), str(data), "--json").stdout)
    assert report["new_classes"] == ["music"] and report["classes"] == 4 and report["model"] == str(model)
    manifest = json.loads((model / "masker.json").read_text())
    assert manifest["classes"][-1] == "music" and manifest["provenance"]["extended"][0]["texts"] == {"music": 12}
    assert (model / "notes.txt").read_text() == "ours" and not (model / "onnx").exists()
    card = (model / "README.md").read_text()
    assert "music" in card


def test_retraining_takes_old_and_new_texts(masker_place, tmp_path):
    import shutil

    model, train = shutil.copytree(masker_place / "model", tmp_path / "model"), str(masker_place / "train.jsonl")
    (model / "notes.txt").write_text("ours")
    data = write_jsonl(tmp_path / "new.jsonl", *make_corpus(24, seed=3, topics=MUSIC))
    words = ["extend", str(model), str(data), "--retrain", "--data", train, "--json"]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["new_classes"] == ["music"] and report["classes"] == 4 and report["added"] == {"music": 24}
    assert not (tmp_path / "model.partial").exists() and (model / "notes.txt").read_text() == "ours"
    before, after = (json.loads((place / "masker.json").read_text()) for place in (masker_place / "model", model))
    assert after["settings"] == before["settings"], "no folder in it that may go"
    assert after["detection"]["added_classes"] == [name == "music" for name in after["classes"]]
    record = after["provenance"]["extended"]
    assert len(record) == 1 and record[0]["texts"] == {"music": 24} and record[0]["new_classes"] == ["music"]
    # Once a class was added, retraining needs its texts, too.
    done = run("extend", str(model), train, "--retrain", "--data", train)
    assert "the model would lose 'music'" in last_line(done) and done.returncode == 2


def test_doubtful_labels_are_named(masker_place, tmp_path):
    texts = make_corpus(12, seed=3, topics=MUSIC)[0]
    data = write_jsonl(tmp_path / "new.jsonl", texts, ["Space "] * 6 + ["SPACE"] * 6)
    done = run("extend", str(masker_place / "model"), str(data), "--output", str(tmp_path / "model2"))
    assert done.returncode == 0 and "'space'" in done.stderr and "differ only in case or blanks" in done.stderr


def test_lists_of_labels_are_refused(masker_place, tmp_path):
    model, train = str(masker_place / "model"), str(masker_place / "train.jsonl")
    data = tmp_path / "new.csv"
    data.write_text("text,labels\na guitar on the moon,music;space\nsome soup,food\n")
    words = ["extend", model, str(data), "--label-column", "labels"]
    done = run(*words, "--retrain", "--data", train, "--output", str(tmp_path / "model2"))
    assert "has lists of labels, and this model takes one label for each text" in last_line(done)
    assert "has lists of labels, and this model takes one label" in last_line(run(*words))
    assert not (tmp_path / "model2").exists() and not (tmp_path / "model2.partial").exists()


def test_a_folder_that_another_process_extends_is_left_to_it(masker_place, tmp_path):
    import shutil

    from filelock import FileLock

    model = shutil.copytree(masker_place / "model", tmp_path / "model")
    data = write_jsonl(tmp_path / "new.jsonl", *make_corpus(12, seed=3, topics=MUSIC))
    before = (model / "masker.json").read_bytes()
    with FileLock(tmp_path / ".model.extend.lock"):
        assert "another process is extending" in last_line(run("extend", str(model), str(data)))
    assert (model / "masker.json").read_bytes() == before


def test_wrong_input_is_one_line(masker_place, tmp_path):
    model, data = str(masker_place / "model"), str(masker_place / "test.jsonl")
    assert "--retrain and --data TRAINING_DATA belong together" in one_line(run("extend", model, data, "--retrain"))
    assert "--restart discards an unfinished --retrain" in one_line(run("extend", model, data, "--restart"))
    assert "already exists" in one_line(run("extend", model, data, "--output", model))
    assert "there is no model folder" in one_line(run("extend", str(tmp_path / "none"), data))


def test_retraining_takes_texts_or_pairs_and_not_both(masker_place, tmp_path):
    model, data, pairs = str(masker_place / "model"), str(masker_place / "test.jsonl"), tmp_path / "pairs.csv"
    pairs.write_text("text,text_pair,label\nthe moon,a rocket,space\nsome soup,and bread,food\n")
    words = ["extend", model, data, "--output", str(tmp_path / "new"), "--retrain", "--data", str(pairs)]
    assert "--data and the new texts must both be single texts, or both pairs of texts" in last_line(run(*words))
    assert list(tmp_path.iterdir()) == [pairs]
