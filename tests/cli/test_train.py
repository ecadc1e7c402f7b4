"""``masker train`` as typed."""

from __future__ import annotations

import json
import signal
import time

import pytest
from filelock import FileLock

from tests.cli.command_line import one_line, run, start, training_options, write_genres, write_jsonl


def test_it_summarises_and_shows_progress(masker_place):
    out, err = (masker_place / "train.out").read_text(), (masker_place / "train.err").read_text()
    assert "trained on 90 documents" in out
    assert "30 keywords (attention)" in out
    assert "masker predict" in out
    decided = [line.split(":")[0].strip() for line in out.splitlines() if line.startswith("  ")]
    assert decided[:5] == ["documents", "pooling", "training", "keywords", "held out"]
    promises = [line for line in out.splitlines() if "rejects at most" in line]
    assert len(promises) == 1 and "% of in-distribution texts on average" in promises[0]
    assert "(90 held-out texts)" in promises[0], "all documents calibrate"
    assert "vanilla" in err and "masker" in err and "100%" in err
    assert not (masker_place / "model.partial").exists()
    assert {"config.json", "masker.json", "masker.safetensors", "model.safetensors", "tokenizer.json"} <= {
        path.name for path in (masker_place / "model").iterdir()
    }


def test_it_tells_the_score_the_promise_and_the_trade_off(score_place):
    out = (score_place / "train.out").read_text()
    assert "score auto (" in out and "with 90 % probability (48 held-out texts)" in out
    assert "chosen" in out and "detected" in out


def test_a_plan_tells_the_decisions_and_writes_nothing(masker_place, tiny_backbones, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data, options = str(masker_place / "train.jsonl"), training_options(tiny_backbones["bert"])
    done = run("train", data, "--plan", *options)
    assert done.returncode == 0, done.stderr
    lines = dict(line.strip().split(":", 1) for line in done.stdout.splitlines())
    assert list(lines) == ["documents", "pooling", "training", "keywords", "held out", "rejection"]
    assert "90 with" in lines["documents"] and "held-out loss of a probe" in lines["pooling"]
    assert lines["training"].strip().startswith("head from a logistic regression; 2 epochs in batches of 8 (as set)")
    assert "cross-fitted in 5 folds" in lines["held out"]
    assert list(tmp_path.iterdir()) == []
    trained = (masker_place / "train.out").read_text().splitlines()
    assert set(done.stdout.splitlines()) <= set(trained), "what is planned is what training does"
    # With --output as well, nothing is written either.
    assert run("train", data, "--plan", "--output", "here", *options, "--preset", "ood").stdout != done.stdout
    assert list(tmp_path.iterdir()) == []


def test_without_an_output_it_says_what_to_type(masker_place, tiny_backbones):
    line = one_line(run("train", str(masker_place / "train.jsonl"), *training_options(tiny_backbones["bert"])))
    assert line == (
        "masker: --output is missing; name the folder to write the model to, or add --plan to train nothing"
    )


def test_keywords_of_a_method_that_has_none_are_ignored_and_it_says_so(masker_place, tiny_backbones):
    options = [*training_options(tiny_backbones["bert"]), "--method", "vanilla", "--keywords", "frequency"]
    done = run("train", str(masker_place / "train.jsonl"), "--plan", *options)
    assert done.returncode == 0 and "--keywords is ignored: method vanilla does not use keywords" in done.stderr


def test_a_regression_has_nothing_to_reject_by(masker_place, tmp_path):
    words = ["train", str(masker_place / "train.jsonl"), "--output", str(tmp_path / "m"), "--head", "regression"]
    line = one_line(run(*words, "--false-alarm-rate", "0.1"))
    assert "a regression has no classes to be out of; leave out --score, --false-alarm-rate" in line
    assert list(tmp_path.iterdir()) == []


def test_a_rate_in_the_settings_limits_the_operating_point(score_place, tiny_backbones, tmp_path):
    options = [*training_options(tiny_backbones["bert"]), "--method", "vanilla", "--epochs", "1"]
    options += ["--set", "data.validation_fraction=0.4", "--set", "detection.calibration=split"]
    options += ["--ood-examples", str(score_place / "ood.jsonl")]
    options += ["--set", "detection.false_alarm_rate=0.04", "--confidence", "0.8"]
    done = run("train", str(score_place / "train.jsonl"), "--output", str(tmp_path / "m"), *options)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "m" / "masker.json").read_text())["detection"]
    assert found["false_alarm_rate"] <= 0.04 and found["confidence"] == 0.8
    assert "of in-distribution texts with 80 % confidence (48 held-out texts)" in done.stdout


def test_rows_chosen_by_a_column(tiny_backbones, tmp_path):
    """Sixty texts in two genres by turns: training sees the thirty of one."""
    path = write_genres(tmp_path / "genres.jsonl")
    options = [*training_options(tiny_backbones["bert"]), "--epochs", "1", "--method", "vanilla"]
    trained = run("train", str(path), "--output", str(tmp_path / "model"), *options, "--where", "genre=telephone")
    assert "trained on 30 documents" in trained.stdout, trained.stderr
    refused = run("train", str(path), "--output", str(tmp_path / "none"), *options, "--where", "genre=fax")
    assert "no row has the value 'fax' in column 'genre'; its values are: letters, telephone" in one_line(refused)
    assert not (tmp_path / "none").exists()


def test_an_interrupted_run_resumes(masker_place, tiny_backbones, tmp_path):
    """Killed with SIGKILL in the middle, the same command finishes with the same model."""
    command = ["train", str(masker_place / "train.jsonl"), "--output", str(tmp_path / "model")]
    command += [*training_options(tiny_backbones["bert"]), "--epochs", "12", "--keywords", "frequency"]
    command += ["--set", "detection.calibration=split"]
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
    assert "resuming the unfinished run" in done.stderr
    whole = run(*command[:3], str(tmp_path / "whole"), *command[4:])
    assert whole.returncode == 0, whole.stderr
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == (
        tmp_path / "whole" / "model.safetensors"
    ).read_bytes()


def test_two_processes_do_not_train_the_same_folder(masker_place, tiny_backbones, tmp_path):
    command = ["train", str(masker_place / "train.jsonl"), "--output", str(tmp_path / "model")]
    command += [*training_options(tiny_backbones["bert"]), "--method", "vanilla"]
    with FileLock(tmp_path / ".model.partial.lock"):
        assert "another process is training" in one_line(run(*command))
    (tmp_path / "model.partial").mkdir()  # killed before it could leave its mark
    done = run(*command)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_restart_discards_what_other_settings_left(masker_place, tiny_backbones, tmp_path):
    left = tmp_path / "model.partial"
    (left / "vanilla" / "checkpoint-8").mkdir(parents=True)
    (left / "run.sha256").write_text("of another run")
    command = ["train", str(masker_place / "train.jsonl"), "--output", str(tmp_path / "model")]
    command += [*training_options(tiny_backbones["bert"]), "--method", "vanilla", "--epochs", "1"]
    assert "--restart" in one_line(run(*command))
    assert (left / "vanilla").is_dir() and not (tmp_path / "model").exists()
    done = run(*command, "--restart")
    assert done.returncode == 0, done.stderr
    assert "resuming" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_head_that_the_method_cannot_have(masker_place, tiny_backbones, tmp_path):
    train = ["train", str(masker_place / "train.jsonl"), "--output", str(tmp_path / "none")]
    options = training_options(tiny_backbones["bert"])
    assert "multi-class" in one_line(run(*train, *options, "--method", "openmax", "--head", "one-vs-rest"))
    assert "residual" in one_line(run(*train, *options, "--method", "residual", "--head", "regression"))
    assert list(tmp_path.iterdir()) == []


def test_examples_and_scores_that_cannot_be_used_are_refused_before_training(score_place, tmp_path):
    new = str(score_place / "new.jsonl")
    missing = one_line(run("train", new, "--output", str(tmp_path / "m"), "--ood-examples", str(tmp_path / "no.jsonl")))
    assert "no.jsonl" in missing and not (tmp_path / "m.partial").exists()
    bad = one_line(run("train", new, "--output", str(tmp_path / "m"), "--score", "best"))
    assert "detection.score" in bad
    assert not (tmp_path / "m.partial").exists()


class TestBadInput:
    """Each is one clear line with the way out, exit code 2, and nothing half-written."""

    @pytest.fixture
    def train(self, tiny_backbones, tmp_path):
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

    def test_unknown_backbone(self, masker_place, tmp_path):
        data = str(masker_place / "train.jsonl")
        done = run("train", data, "--output", str(tmp_path / "m"), "--backbone", "no/such-model")
        message = one_line(done)
        assert "no/such-model" in message and "--backbone minilm" in message

    def test_existing_output(self, masker_place):
        done = run("train", str(masker_place / "train.jsonl"), "--output", str(masker_place / "model"))
        assert "already exists" in one_line(done)

    def test_too_many_keywords(self, train, masker_place):
        message = train(masker_place / "train.jsonl", "--keywords", "frequency", "--set", "keywords.count=100000")
        assert "100000" in message and "at most" in message

    @pytest.mark.parametrize("setting", ["masking.keyword_mask_prob=1.5", "detection.false_alarm_rate=-0.1"])
    def test_probability_outside(self, train, masker_place, setting):
        assert setting.split("=")[0] in train(masker_place / "train.jsonl", "--set", setting)

    def test_unknown_setting(self, train, masker_place):
        assert "lambda_mkr" in train(masker_place / "train.jsonl", "--set", "loss.lambda_mrk=1")

    def test_missing_keyword_file(self, train, masker_place):
        assert "no file 'attentoin'" in train(masker_place / "train.jsonl", "--keywords", "attentoin")

    def test_every_class_once(self, train, tmp_path):
        write_jsonl(tmp_path / "d.jsonl", ["a", "b", "c"], ["x", "y", "z"])
        assert "at least two" in train(tmp_path / "d.jsonl")
