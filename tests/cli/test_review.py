"""``masker review``, with an exported model: no PyTorch needed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.cli.command_line import one_line, run, write_jsonl
from tests.conftest import make_corpus

MODEL = str(Path(__file__).parent.parent / "fixtures" / "exported-bert")
CLASSES = json.loads((Path(MODEL) / "masker.json").read_text())["classes"]


def test_a_table_and_tasks(tmp_path):
    data = write_jsonl(tmp_path / "d.jsonl", make_corpus(60, seed=5)[0])
    table, tasks = tmp_path / "review.csv", tmp_path / "tasks.json"
    done = run("review", MODEL, str(data), "--budget", "8", "--output", str(table))
    assert done.returncode == 0, done.stderr
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert 1 <= len(rows) <= 8 and {row["label"] for row in rows} == {""}
    assert done.stdout.startswith(f"{len(rows)} of 60 texts to label: ")
    again = ["review", MODEL, str(data), "--budget", "8", "--output", str(table)]
    table.write_text("text,label\nhello,mine\n")
    assert "review.csv' exists, and may have labels of yours" in one_line(run(*again))
    assert "mine" in table.read_text()
    assert run(*again, "--overwrite").returncode == 0 and "mine" not in table.read_text()
    done = run("review", MODEL, str(data), "--budget", "8", "--output", str(tasks), "--json")
    assert json.loads(done.stdout)["files"] == [str(tasks), str(tmp_path / "tasks.xml")]
    written = json.loads(tasks.read_text())
    answers = [row["suggested"] in CLASSES for row in rows]
    assert [("score" in task["predictions"][0]) for task in written] == answers
    assert [task["data"]["text"] for task in written] == [row["text"] for row in rows]
    assert [task["predictions"][0]["result"][0]["value"]["choices"][0] for task in written] == [
        row["suggested"] for row in rows
    ]


def test_wrong_input_is_one_line(tmp_path):
    data = write_jsonl(tmp_path / "d.jsonl", make_corpus(3, seed=5)[0])
    message = one_line(run("review", MODEL, str(data), "--budget", "3", "--output", "x.txt"))
    assert "must end in .csv, or in .json for Label Studio; got 'x.txt'" in message
