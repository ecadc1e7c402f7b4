"""``masker discover``, with an exported model: no PyTorch needed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from masker.discovery import DiscoverySettings
from tests.cli.command_line import last_line, run, write_jsonl
from tests.conftest import make_corpus

MODEL = str(Path(__file__).parent.parent / "fixtures" / "exported-bert")


def test_files_table_and_json(tmp_path):
    texts = make_corpus(60, seed=5)[0]
    data, folder = write_jsonl(tmp_path / "d.jsonl", [*texts, "  "]), tmp_path / "groups"
    done = run("discover", MODEL, str(data), "--all", "--output", str(folder))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("60 texts of 60: ") and "novelty above 1" in done.stdout
    content = json.loads((folder / "groups.json").read_text())
    with (folder / "texts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == content["grouped"] and {row["text"] for row in rows} <= set(texts)
    names = {str(place): group["name"] for place, group in enumerate(content["groups"], 1)}
    assert {(row["group"], row["label"]) for row in rows} == set(names.items())
    page = (folder / "groups.html").read_text()
    assert all(f'id="group-{place}"' in page for place in names) and "<script" not in page
    (folder / "texts.csv").write_text("text,label\nhello,mine\n")
    message = last_line(run("discover", MODEL, str(data), "--all", "--output", str(folder)))
    assert "texts.csv' exists, and may have labels of yours" in message
    assert "mine" in (folder / "texts.csv").read_text()
    done = run("discover", MODEL, str(data), "--all", "--output", str(folder), "--overwrite")
    assert done.returncode == 0 and "mine" not in (folder / "texts.csv").read_text()
    again = run("discover", MODEL, str(data), "--all", "--json", "--max-groups", "1")
    assert len(json.loads(again.stdout)["groups"]) == 1


def test_wrong_input_is_one_line(tmp_path):
    data = write_jsonl(tmp_path / "d.jsonl", make_corpus(3, seed=5)[0])
    message = last_line(run("discover", MODEL, str(data), "--false-alarm-rate", "0"))
    assert "rejects none of them; group all with --all" in message
    assert "there is no such file" in last_line(run("discover", MODEL, str(tmp_path / "none.csv")))


def test_help_names_the_defaults():
    shown = " ".join(run("discover", "--help").stdout.split())
    defaults = DiscoverySettings()
    for value in (defaults.max_groups, defaults.sample, defaults.examples, defaults.seed):
        assert f"[default: {value}]" in shown
