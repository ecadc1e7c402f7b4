"""``masker keywords`` as typed."""

from __future__ import annotations

import json

from tests.cli.command_line import one_line, run, write_genres


def test_of_a_model(masker_place):
    shown = run("keywords", str(masker_place / "model"))
    assert "30 keywords (attention)" in shown.stdout
    assert "leave --count out" in one_line(run("keywords", str(masker_place / "model"), "--count", "5"))


def test_of_data(masker_place, tmp_path):
    data, saved = str(masker_place / "train.jsonl"), tmp_path / "keywords.json"
    done = run("keywords", data, "--count", "5", "--json", "--output", str(saved), "--exclude-stop-words")
    content = json.loads(done.stdout)
    assert content == json.loads(saved.read_text())
    assert content["source"] == "frequency"
    assert len(content["keywords"]) == 5
    refused = run("keywords", data, "--output", str(tmp_path / "none" / "k.json"))
    assert "there is no folder" in one_line(refused)


def test_of_the_attention_of_a_model(masker_place):
    model = str(masker_place / "model")
    done = run("keywords", str(masker_place / "train.jsonl"), "--attention-model", model, "--json", "--backbone", model)
    assert json.loads(done.stdout)["source"] == "attention"


def test_rows_chosen_by_a_column(tmp_path):
    path = write_genres(tmp_path / "genres.jsonl")
    every = json.loads(run("keywords", str(path), "--json").stdout)
    assert every == json.loads(run("keywords", str(path), "--where", "genre=telephone,letters", "--json").stdout)
    assert every != json.loads(run("keywords", str(path), "--where", "genre=telephone", "--json").stdout)
