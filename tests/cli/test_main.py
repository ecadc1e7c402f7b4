"""What all commands share: help, one-line errors, exit codes."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from masker import cli
from masker.cli import main
from masker.errors import DataError
from tests.cli.command_line import one_line, run, start, write_jsonl


def test_the_real_process_prints_one_line_and_exits_with_2(tmp_path):
    process = start("train", "data.csv", "--output", str(tmp_path / "never"), "--preset", "odd")
    out, err = process.communicate()
    assert process.returncode == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("masker: preset must be one of")
    assert list(tmp_path.iterdir()) == []


def test_options_that_would_do_nothing_are_refused(score_place, score_model, tmp_path):
    train, new, out = str(score_place / "train.jsonl"), str(score_place / "new.jsonl"), str(tmp_path / "m")
    pairs = write_jsonl(tmp_path / "pairs.jsonl", ["a"], None, ["b"])
    scores = write_jsonl(tmp_path / "scores.jsonl", ["a", "b", "c"], [0.1, 0.2, 0.3])
    for words, message in (
        (["evaluate", score_model, new, "--ood-where", "a=b"], "give them with --ood"),
        (["export", score_model, "--limit", "3"], "--check FILE"),
        (["train", str(scores), "--output", out, "--head", "regression", "--score", "energy"], "no classes to be out"),
        (["train", str(scores), "--output", out, "--head", "regression", "--ood-examples", new], "--ood-examples"),
        (["train", train, "--output", out, "--ood-examples", str(pairs)], "must hold texts"),
    ):
        line = one_line(run(*words))
        assert message in line, words
    assert "--statistics" not in line
    assert not (tmp_path / "m.partial").exists()


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "masker: interrupted; repeat the command to resume\n"),
        (OSError(28, "No space left on device", "model"), 2, "masker: No space left on device (model); nothing was "
         "lost: fix it and repeat the command\n"),
        (DataError("label '\x1b[2J'\nis odd"), 2, "masker: label '\\x1b[2J'\nis odd\n"),
        (OSError("disk is gone"), 2, "masker: disk is gone; nothing was lost: fix it and repeat the command\n"),
    ],
)  # fmt: skip
def test_what_happens_outside_is_one_line(monkeypatch, capsys, error, code, message):
    def fail(**options):
        raise error

    monkeypatch.setattr(cli.cli, "main", fail)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == code
    assert capsys.readouterr().err == message


@pytest.mark.parametrize("words", ["--help", "train --help", "data list"])
def test_a_reader_that_has_what_it_wants_is_no_error(words):
    """As in ``masker data list | head -1``, whose reader leaves early."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", "from masker.cli import main; main()", *words.split()]
    with os.fdopen(writer) as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_package_that_is_not_installed_is_one_line(monkeypatch):
    def fail(**options):
        raise ModuleNotFoundError(f"No module named '{missing}'", name=missing)

    monkeypatch.setattr(cli.cli, "main", fail)
    missing = "sklearn.svm"
    line = one_line(run("train"))
    assert "needs sklearn" in line and line.endswith("install it with pip install 'masker[train]'")
    missing = "somebody_elses"
    with pytest.raises(ModuleNotFoundError, match="somebody_elses"):
        main()


def test_a_lost_process_of_a_distributed_run_is_one_line(monkeypatch):
    def fail(**options):
        raise RuntimeError("[gloo/transport/tcp/pair.cc:598] Connection closed by peer")

    monkeypatch.setattr(cli.cli, "main", fail)
    with pytest.raises(RuntimeError, match="gloo"):
        main()  # there is no other process
    for name, value in {"WORLD_SIZE": "2", "LOCAL_RANK": "0", "RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    assert "another process of this run is gone; repeat the command to resume" in one_line(run("train"))


def test_a_bug_keeps_its_traceback(monkeypatch):
    def fail(**options):
        raise RuntimeError("a bug")

    monkeypatch.setattr(cli.cli, "main", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        main()


def test_only_the_first_of_many_processes_speaks(monkeypatch, tmp_path):
    for name, value in {"WORLD_SIZE": "2", "LOCAL_RANK": "1", "RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    done = run("evaluate", str(tmp_path / "none"), str(tmp_path / "none.csv"))
    assert (done.returncode, done.stderr) == (2, "")
    assert run("evaluate").stderr == "", "nor about wrong usage"
    monkeypatch.setenv("RANK", "0")
    assert "masker train" in one_line(run("evaluate", str(tmp_path / "none"), str(tmp_path / "none.csv")))


def test_the_first_page_shows_an_example_a_line():
    text = CliRunner().invoke(cli.cli, ["--help"], terminal_width=80, prog_name="masker").output
    lines = [line.strip() for line in text.partition("Options:")[0].splitlines()]
    examples = [line for line in lines if line.startswith("masker ")]
    named = ["demo", "train", "predict", "evaluate", "report", "calibrate", "serve"]
    assert [line.split()[1] for line in examples] == named
    assert all(line.count("masker ") == 1 for line in examples)
    assert max(map(len, text.splitlines())) <= 80 and "\\b" not in text and "\b" not in text
    assert cli.cli.list_commands(click.Context(cli.cli))[:4] == ["demo", "train", "predict", "evaluate"]


def test_the_real_process_shows_the_same_page():
    environment = {**os.environ, "COLUMNS": "80"}
    process = start("--help", env=environment)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "\\b" not in out and "\b" not in out
    assert "\n  masker demo " in out and "\n  masker train data.csv --output model " in out


def test_help_and_names_need_no_torch():
    """``--help`` is instant: nothing heavy is imported for it."""
    code = "import sys; from masker.cli import cli; cli(['train', '--help'], standalone_mode=False); " \
           "print(sorted({'torch', 'transformers', 'sklearn', 'ray'} & set(sys.modules)))"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
