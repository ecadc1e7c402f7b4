"""Typing commands in tests: in this process, or in one of their own."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from dataclasses import dataclass

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


def last_line(done: Done) -> str:
    """The last line of a refused command that may have shown progress before."""
    assert done.returncode == 2 and "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


def predictions(*args: str) -> list[dict]:
    """The rows that ``masker predict`` prints."""
    done = run("predict", *args)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


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


def write_genres(path):
    """Sixty labelled texts in two genres by turns, ``telephone`` and ``letters``."""
    texts, labels = make_corpus(60, seed=3)
    rows = [
        {"text": text, "label": label, "genre": ["telephone", "letters"][index // 3 % 2]}
        for index, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def training_options(backbone: str) -> list[str]:
    """Options that train a tiny encoder in seconds, without a report, which would take as long."""
    return [
        "--no-report",
        *("--backbone", backbone, "--epochs", "2", "--batch-size", "8", "--learning-rate", "2e-3"),
        *("--max-length", "48", "--set", "training.precision=fp32", "--set", "training.head_lr_scale=1"),
    ]
