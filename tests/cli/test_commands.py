"""The commands as a user types them, on a tiny model."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from masker.cli import main
from tests.conftest import make_corpus


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def run(*args: str, text: str = "") -> Done:
    """The command line in this process: starting Python and torch anew for each call would take most of the time."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
    before = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["masker", *args], stdin
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.argv, sys.stdin = before
    return Done(code, out.getvalue(), err.getvalue())


def start(*args: str, **options) -> subprocess.Popen[str]:
    """The real command, in a process of its own."""
    command = [sys.executable, "-c", "from masker.cli import main; main()", *args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def one_line(done: Done) -> str:
    """The single line of a refused command: exit code 2, nothing on stdout, no traceback."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, done.stderr
    return lines[0]


def write_jsonl(path, texts, labels=None, pairs=None):
    with path.open("w", encoding="utf-8") as file:
        for index, text in enumerate(texts):
            row = {"text": text}
            if pairs is not None:
                row["text_pair"] = pairs[index]
            if labels is not None:
                row["label"] = labels[index]
            file.write(json.dumps(row) + "\n")
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory, tiny_backbones):
    """A folder with data files and a model that the command line trained."""
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


def training_options(backbone: str) -> list[str]:
    return [
        *("--backbone", backbone, "--epochs", "2", "--batch-size", "8", "--learning-rate", "2e-3"),
        *("--max-length", "48", "--set", "training.precision=fp32", "--set", "training.head_lr_scale=1"),
    ]


def test_train_summarises_and_shows_progress(place):
    out, err = (place / "train.out").read_text(), (place / "train.err").read_text()
    assert "trained on 90 documents" in out
    assert "30 keywords (attention)" in out
    assert "masker predict" in out
    assert "vanilla" in err and "masker" in err and "100%" in err
    assert not (place / "model.partial").exists()
    assert {"config.json", "masker.json", "masker.safetensors", "model.safetensors", "tokenizer.json"} <= {
        path.name for path in (place / "model").iterdir()
    }


def test_predict_jsonl_from_a_file(place):
    done = run("predict", str(place / "model"), str(place / "test.jsonl"))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 30
    for row in rows:
        assert list(row) == ["label", "confidence", "p_value", "ood_score", "is_ood"]
        assert row["label"] in {"space", "food", "sport"}
        assert 0 < row["p_value"] <= 1 and 0 < row["confidence"] < 1
        assert isinstance(row["is_ood"], bool)


def test_predict_csv_from_standard_input_with_text(place):
    done = run("predict", str(place / "model"), "-", "--format", "csv", "--with-text", text="rocket moon\nbread soup\n")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["text"] for row in rows] == ["rocket moon", "bread soup"]
    assert list(rows[0]) == ["text", "label", "confidence", "p_value", "ood_score", "is_ood"]


def test_predict_writes_a_file_atomically(place, tmp_path):
    target = tmp_path / "sub" / "out.jsonl"
    done = run("predict", str(place / "model"), str(place / "test.jsonl"), "--output", str(target), "--limit", "7")
    assert done.returncode == 0 and done.stdout == ""
    assert len(target.read_text().splitlines()) == 7
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"text": "fine"}\n{"text": \n')
    again = run("predict", str(place / "model"), str(broken), "--output", str(target))
    assert again.returncode == 2
    assert len(target.read_text().splitlines()) == 7, "the old file is untouched"
    assert [path.name for path in target.parent.iterdir()] == ["out.jsonl"]
    folder = run("predict", str(place / "model"), str(place / "test.jsonl"), "--output", str(tmp_path))
    assert "is a folder; name a file in it" in one_line(folder)


def test_predict_survives_a_reader_that_leaves(place):
    command = (
        f"{sys.executable} -c 'from masker.cli import main; main()' predict {place / 'model'} {place / 'test.jsonl'}"
    )
    done = subprocess.run(f"{command} | head -1", shell=True, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["label"]
    assert "Traceback" not in done.stderr


def test_evaluate_json(place):
    done = run("evaluate", str(place / "model"), str(place / "test.jsonl"), "--ood", str(place / "ood.jsonl"), "--json")
    report = json.loads(done.stdout)
    assert {"accuracy", "macro_f1", "ece"} == set(report["classification"])
    figures = report["ood"]["ood"]
    for name in ("auroc", "eer", "detection_accuracy", "tnr_at_tpr80", "aupr", "fpr_at_tpr95"):
        assert 0 <= figures[name]["low"] <= figures[name]["high"] <= 1
        assert 0 <= figures[name]["value"] <= 1
    assert report["provenance"]["versions"]["masker"]
    assert report["provenance"]["trained"]["data_sha256"]


def test_evaluate_table(place):
    done = run("evaluate", str(place / "model"), str(place / "test.jsonl"), "--ood", str(place / "ood.jsonl"))
    assert "macro_f1" in done.stdout
    assert "AUROC" in done.stdout
    assert "TNR@TPR80" in done.stdout


def test_evaluate_refuses_labels_the_model_does_not_know(place, tmp_path):
    path = write_jsonl(tmp_path / "t.jsonl", ["rocket", "guitar"], ["space", "music"])
    done = run("evaluate", str(place / "model"), str(path))
    assert done.returncode == 2
    assert "music" in done.stderr and "--ood" in done.stderr


def test_keywords_of_model_and_of_data(place, tmp_path):
    shown = run("keywords", str(place / "model"))
    assert "30 keywords (attention)" in shown.stdout
    saved = tmp_path / "keywords.json"
    done = run(
        "keywords", str(place / "train.jsonl"), "--count", "5", "--json", "--output", str(saved), "--exclude-stop-words"
    )
    content = json.loads(done.stdout)
    assert content == json.loads(saved.read_text())
    assert content["source"] == "frequency"
    assert len(content["keywords"]) == 5
    attention = run("keywords", str(place / "train.jsonl"), "--attention-model", str(place / "model"), "--json",
                    "--backbone", str(place / "model"))  # fmt: skip
    assert json.loads(attention.stdout)["source"] == "attention"
    assert "leave --count out" in one_line(run("keywords", str(place / "model"), "--count", "5"))
    refused = run("keywords", str(place / "train.jsonl"), "--output", str(tmp_path / "none" / "k.json"))
    assert "there is no folder" in one_line(refused)


def test_pairs_and_regression(place, tiny_backbones, tmp_path):
    texts, labels = make_corpus(45)
    pairs = make_corpus(45, seed=2)[0]
    data = write_jsonl(tmp_path / "pairs.jsonl", texts, labels, pairs)
    options = [*training_options(tiny_backbones["bert"]), "--epochs", "1", "--keywords", "frequency"]
    assert run("train", str(data), "--output", str(tmp_path / "pairs"), *options).returncode == 0
    rows = run("predict", str(tmp_path / "pairs"), str(data), "--limit", "3").stdout.splitlines()
    assert len(rows) == 3

    scores = [float(["space", "food", "sport"].index(label)) for label in labels]
    data = write_jsonl(tmp_path / "scores.jsonl", texts, scores, pairs)
    options = [*training_options(tiny_backbones["bert"]), "--epochs", "2", "--head", "regression"]
    assert run("train", str(data), "--output", str(tmp_path / "scores"), *options).returncode == 0
    row = json.loads(run("predict", str(tmp_path / "scores"), str(data), "--limit", "1").stdout)
    assert isinstance(row["label"], float) and row["is_ood"] is None
    assert "leave --reject out" in one_line_any(run("predict", str(tmp_path / "scores"), str(data), "--reject"))
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        write_jsonl(tmp_path / "in" / f"{name}.jsonl", texts, scores, pairs)
    shards = [str(tmp_path / "scores"), str(tmp_path / "in"), "--engine", "local", "--output", str(tmp_path / "out")]
    assert "leave --reject out" in one_line_any(run("predict", *shards, "--reject"))
    report = json.loads(run("evaluate", str(tmp_path / "scores"), str(data), "--json").stdout)
    assert {"pearson", "spearman", "mse"} == set(report["regression"])
    assert "without --ood" in one_line_any(run("evaluate", str(tmp_path / "scores"), str(data), "--ood", str(data)))


def test_rows_chosen_by_a_column(place, tiny_backbones, tmp_path):
    """Sixty texts in two genres by turns: each command sees the thirty of one."""
    texts, labels = make_corpus(60, seed=3)
    path = tmp_path / "genres.jsonl"
    rows = [
        {"text": text, "label": label, "genre": ["telephone", "letters"][index // 3 % 2]}
        for index, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    chosen = ("--where", "genre=telephone")
    options = [*training_options(tiny_backbones["bert"]), "--epochs", "1", "--method", "vanilla"]
    trained = run("train", str(path), "--output", str(tmp_path / "model"), *options, *chosen)
    assert "trained on 30 documents" in trained.stdout, trained.stderr
    predicted = run("predict", str(place / "model"), str(path), *chosen, "--with-text").stdout.splitlines()
    assert [json.loads(line)["text"] for line in predicted] == [r["text"] for r in rows if r["genre"] == "telephone"]
    evaluate = ("evaluate", str(place / "model"), str(path), *chosen, "--resamples", "10", "--ood", str(path))
    report = json.loads(run(*evaluate, "--ood-where", "genre=letters", "--json").stdout)
    assert (report["test"], report["documents"]) == (f"{path} (genre=telephone)", 30)
    assert [part["documents"] for part in report["ood"].values()] == [30]
    assert "(genre=telephone)" in run(*evaluate).stdout
    both = json.loads(run("keywords", str(path), "--where", "genre=telephone,letters", "--json").stdout)
    assert both == json.loads(run("keywords", str(path), "--json").stdout)
    refused = run("train", str(path), "--output", str(tmp_path / "none"), *options, "--where", "genre=fax")
    assert "no row has the value 'fax' in column 'genre'; its values are: letters, telephone" in one_line(refused)
    assert not (tmp_path / "none").exists()
    assert "--where takes COLUMN=VALUE" in one_line(run("predict", str(place / "model"), str(path), "--where", "genre"))


def one_line_any(done: Done) -> str:
    assert done.returncode == 2 and "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


def test_an_interrupted_run_goes_on(place, tiny_backbones, tmp_path):
    """Killed with SIGKILL in the middle, the same command finishes with the same model."""
    import signal
    import time

    command = ["train", str(place / "train.jsonl"), "--output", str(tmp_path / "model")]
    command += [*training_options(tiny_backbones["bert"]), "--epochs", "12", "--keywords", "frequency"]
    process = start(*command)
    partial = tmp_path / "model.partial" / "masker"
    deadline = time.monotonic() + 600  # against a hang only
    while not list(partial.glob("checkpoint-*/trainer_state.json")) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "model").exists()
    other = run(*command, "--seed", "5")
    assert "--restart" in one_line(other)
    done = run(*command)
    assert done.returncode == 0, done.stderr
    assert "going on with the unfinished run" in done.stderr
    whole = run(*command[:3], str(tmp_path / "whole"), *command[4:])
    assert whole.returncode == 0, whole.stderr
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == (
        tmp_path / "whole" / "model.safetensors"
    ).read_bytes()


def test_two_processes_do_not_train_the_same_folder(place, tiny_backbones, tmp_path):
    from filelock import FileLock

    command = ["train", str(place / "train.jsonl"), "--output", str(tmp_path / "model")]
    command += [*training_options(tiny_backbones["bert"]), "--method", "vanilla"]
    with FileLock(tmp_path / ".model.lock"):
        assert "another process trains" in one_line(run(*command))
    (tmp_path / "model.partial").mkdir()  # killed before it could leave its mark
    done = run(*command)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_texts_are_written_as_they_are_whatever_the_locale(place, tmp_path):
    source = tmp_path / "texts.jsonl"
    source.write_text('{"text": "soup \u4e2d"}\n{"text": " "}\n', encoding="utf-8")
    process = start(
        "predict", str(place / "model"), str(source), "--with-text", "--skip-invalid",
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        encoding="utf-8",
    )  # fmt: skip
    out, err = process.communicate()
    assert process.returncode == 0, err
    (line,) = out.splitlines()
    assert json.loads(line)["text"] == "soup \u4e2d"


def test_the_real_process_prints_one_line_and_exits_with_2(place):
    process = start("train", str(place / "none.csv"), "--output", str(place / "never"))
    out, err = process.communicate()
    assert process.returncode == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("masker: ")


class TestBadInput:
    """Each is one clear line with the way out, exit code 2, and nothing half-written."""

    @pytest.fixture
    def train(self, place, tiny_backbones, tmp_path):
        def call(data, *options: str) -> str:
            output = tmp_path / "refused"
            done = run("train", str(data), "--output", str(output), *training_options(tiny_backbones["bert"]), *options)
            assert not output.exists()
            assert not output.with_name("refused.partial").exists()
            return one_line(done)

        return call

    def test_missing_file(self, train, tmp_path):
        assert "nowhere.csv" in train(tmp_path / "nowhere.csv")

    def test_missing_column(self, train, tmp_path):
        (tmp_path / "d.csv").write_text("words,topic\na b,x\nc d,y\n")
        message = train(tmp_path / "d.csv")
        assert "words" in message and "topic" in message and "--text-column" in message

    def test_empty_file(self, train, tmp_path):
        (tmp_path / "d.jsonl").write_text("")
        assert "d.jsonl" in train(tmp_path / "d.jsonl")

    def test_one_class(self, train, tmp_path):
        write_jsonl(tmp_path / "d.jsonl", ["a", "b", "c"], ["x", "x", "x"])
        assert "x" in train(tmp_path / "d.jsonl")

    def test_empty_texts(self, train, tmp_path):
        write_jsonl(tmp_path / "d.jsonl", ["a", " ", "c"], ["x", "y", "x"])
        assert "--skip-invalid" in train(tmp_path / "d.jsonl")

    def test_nan_labels(self, train, tmp_path):
        (tmp_path / "d.csv").write_text("text,label\na,x\nb,nan\nc,y\n")
        assert "--skip-invalid" in train(tmp_path / "d.csv")

    def test_wrong_encoding(self, train, tmp_path):
        (tmp_path / "d.csv").write_bytes("text,label\ncafé,x\nb,y\n".encode("latin-1"))
        assert "--encoding" in train(tmp_path / "d.csv")

    def test_unknown_backbone(self, place, tmp_path):
        done = run("train", str(place / "train.jsonl"), "--output", str(tmp_path / "m"), "--backbone", "no/such-model")
        message = one_line(done)
        assert "no/such-model" in message and "--backbone minilm" in message

    def test_existing_output(self, place):
        done = run("train", str(place / "train.jsonl"), "--output", str(place / "model"))
        assert "already exists" in one_line(done)

    def test_too_many_keywords(self, train, place, tmp_path):
        message = train(place / "train.jsonl", "--keywords", "frequency", "--set", "keywords.count=100000")
        assert "100000" in message and "at most" in message

    @pytest.mark.parametrize("setting", ["masking.keyword_mask_prob=1.5", "detection.false_alarm_rate=-0.1"])
    def test_probability_outside(self, train, place, setting):
        assert setting.split("=")[0] in train(place / "train.jsonl", "--set", setting)

    def test_unknown_setting(self, train, place):
        assert "lambda_mkr" in train(place / "train.jsonl", "--set", "loss.lambda_mrk=1")

    def test_missing_keyword_file(self, train, place):
        assert "no file 'attentoin'" in train(place / "train.jsonl", "--keywords", "attentoin")

    def test_every_class_once(self, train, tmp_path):
        write_jsonl(tmp_path / "d.jsonl", ["a", "b", "c"], ["x", "y", "z"])
        assert "at least two" in train(tmp_path / "d.jsonl")

    def test_model_folder(self, place, tmp_path):
        data = str(place / "test.jsonl")
        assert "masker train" in one_line(run("predict", str(tmp_path / "none"), data))
        (tmp_path / "foreign").mkdir()
        (tmp_path / "foreign" / "config.json").write_text("{}")
        assert "masker.json" in one_line(run("predict", str(tmp_path / "foreign"), data))

    @pytest.mark.parametrize("damage", ["weights", "manifest", "tensors", "config", "pickle"])
    def test_damaged_model_folder(self, place, tmp_path, damage):
        import pickle
        import shutil

        folder = tmp_path / "model"
        shutil.copytree(place / "model", folder)
        name = {"weights": "model.safetensors", "manifest": "masker.json", "tensors": "masker.safetensors"}
        if damage == "pickle":
            (folder / "notes.txt").write_bytes(pickle.dumps({"a": 1}))
        elif damage == "config":
            (folder / "config.json").write_text("not json")
        else:
            path = folder / name[damage]
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        message = one_line(run("predict", str(folder), str(place / "test.jsonl")))
        assert str(folder) in message
        assert damage != "pickle" or "pickle" in message
