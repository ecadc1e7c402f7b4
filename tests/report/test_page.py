"""docs/reproduction.md is generated from committed results, and keeps what is written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from masker.errors import ConfigError
from masker.experiments.recipe import recipe_names
from masker.experiments.summary import dumps_summary
from masker.report.page import (
    ELSEWHERE,
    END,
    MAX_BYTES,
    NOTES,
    ORDER,
    PAGE,
    PAGES_WITH_TABLES,
    RESULTS,
    add_results,
    fill_tables,
    make_page,
    marker,
    read_notes,
    write_pages,
)
from masker.report.reproduction import summary_lines

ROOT = Path(__file__).parents[2]

SUMMARY = {
    "format": 1,
    "recipe": "nli",
    "title": "Inference",
    "scale": "small",
    "systems": {"vanilla": "vanilla"},
    "setting": {
        "hardware": "2 CPU cores", "models": ["minilm"], "seeds": [0], "train_documents": 10, "test_documents": None,
        "class_ratio": None, "stand_ins": {}, "settings": {"model": {"max_length": 64}}, "notes": [],
    },
    "provenance": {"created": "2030-01-02T00:00:00", "machine": "Linux x86_64", "commit": "0123456789abcdef",
                   "versions": {"torch": "2", "transformers": "5"}},
    "table": {"rows": ["train", "test"], "columns": ["system"]},
    "cells": [{"train": "Telephone", "test": "Letters", "backbone": "BERT", "model": "minilm", "system": "vanilla",
               "metric": "accuracy", "values": [61.0], "mean": 61.0, "deviation": None, "paper": {"mean": 77.4}}],
    "comparisons": [],
}  # fmt: skip


@pytest.fixture
def output(tmp_path):
    folder = tmp_path / "out" / "nli"
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(dumps_summary(SUMMARY))
    (folder / "figure.svg").write_text("<svg/>")
    return tmp_path / "out"


def test_results_are_copied_and_shown_with_their_notes(output, tmp_path):
    results, notes = tmp_path / "results", tmp_path / "notes.md"
    assert add_results(output, results) == [results / "nli.small.json"]
    notes.write_text("# Notes\n\nfor nobody\n\n## nli\n\nThis is why.\n\n## stsb\n\nNot shown yet.\n")
    page = make_page(results, notes)
    assert "This is why." in page and "Not shown yet" not in page and "for nobody" not in page
    assert "| Telephone  | Letters   | 61.0 (77.4) |" in page
    assert (
        "2030-01-02, commit 0123456789ab when summarised, Linux" in page
        and "masker reproduce nli --scale small" in page
    )
    assert "![Inference](../results/reproduction/nli.small.svg)" in page
    assert "## Not run yet" in page and "`stsb`" in page
    assert make_page(results, notes) == page


def test_another_encoder_stands_beside_the_scales_own(output, tmp_path):
    results = tmp_path / "results"
    add_results(output, results)
    setting = {**SUMMARY["setting"], "models": ["granite-30m"]}
    (output / "nli" / "summary.json").write_text(dumps_summary({**SUMMARY, "setting": setting}))
    assert add_results(output, results) == [results / "nli.small.granite-30m.json"]
    page = make_page(results, tmp_path / "notes.md")
    assert "## Inference (`nli`, small)" in page and "## Inference (`nli`, small, granite-30m)" in page
    assert "`masker reproduce nli --scale small --backbone granite-30m`" in page


def test_the_origin_of_a_table_is_that_of_its_stages(output, tmp_path):
    """Not the commit of whoever wrote the summary: one commit for all stages, or all commits and a line about it."""
    groups = [{"commit": "a" * 40, "versions": {"torch": "2"}, "stages": {"train": 2}}]
    summary = {**SUMMARY, "origins": groups}
    (output / "nli" / "summary.json").write_text(dumps_summary(summary))
    add_results(output, tmp_path / "results")
    assert "2030-01-02, commit aaaaaaaaaaaa, Linux" in make_page(tmp_path / "results", tmp_path / "notes.md")
    groups.append({"commit": "b" * 40, "versions": {"torch": "2"}, "stages": {"evaluate": 1}})
    (output / "nli" / "summary.json").write_text(dumps_summary(summary))
    add_results(output, tmp_path / "results")
    page = make_page(tmp_path / "results", tmp_path / "notes.md")
    assert "2030-01-02, commit aaaaaaaaaaaa and commit bbbbbbbbbbbb, Linux" in page
    assert "same code:** commit aaaaaaaaaaaa (2 train); commit bbbbbbbbbbbb (1 evaluate)." in page


def test_brackets_are_explained_if_there_are_any():
    assert "the paper's figure in brackets." in "\n".join(summary_lines(SUMMARY))
    ours = [{key: value for key, value in cell.items() if key != "paper"} for cell in SUMMARY["cells"]]
    assert "brackets" not in "\n".join(summary_lines({**SUMMARY, "cells": ours}))


def test_what_cannot_be_copied(output, tmp_path):
    with pytest.raises(ConfigError, match=r"has no summary\.json"):
        add_results(tmp_path / "nowhere", tmp_path / "results")
    big = {**SUMMARY, "cells": SUMMARY["cells"] * 1000}
    (output / "nli" / "summary.json").write_text(dumps_summary(big))
    with pytest.raises(ConfigError, match=f"at most {MAX_BYTES:,} may be committed"):
        add_results(output, tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_a_run_with_other_settings_is_not_published(output, tmp_path):
    changed = {**SUMMARY, "setting": {**SUMMARY["setting"], "overrides": ["loss.lambda_mer=0.5"]}}
    (output / "nli" / "summary.json").write_text(dumps_summary(changed))
    with pytest.raises(ConfigError, match=r"made with --set loss\.lambda_mer=0\.5; make it a recipe of its own"):
        add_results(output, tmp_path / "results")


def test_notes_by_recipe():
    assert read_notes("intro\n## a\none\n\ntwo\n## b\n") == {"a": "one\n\ntwo", "b": ""}


def test_every_recipe_has_a_place_on_the_page():
    assert sorted([*ORDER, *ELSEWHERE]) == recipe_names()


def test_the_committed_page_matches_the_committed_results():
    assert (ROOT / PAGE).read_text(encoding="utf-8") == make_page(ROOT / RESULTS, ROOT / NOTES)


@pytest.mark.parametrize("page", [page for page in PAGES_WITH_TABLES if (ROOT / page).is_file()])
def test_tables_in_pages_match_the_committed_results(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text.count("made by make reproduce-page -->") == text.count(END) > 0
    assert fill_tables(text, ROOT / RESULTS) == text


def test_text_around_a_table_stays(tmp_path):
    start = marker("reliance")
    text = f"before\n\n{start}\n\nold\n\n{END}\n\nbehind\n\n{marker('nli')}\n{END}\n"
    empty = fill_tables(text, tmp_path)
    assert empty.startswith(f"before\n\n{start}\n\nNot run yet.\n\n{END}\n\nbehind\n")
    assert empty.count("Not run yet.") == 2
    summary = {**SUMMARY, "recipe": "reliance", "title": "t"}
    (tmp_path / "reliance.small.json").write_text(dumps_summary(summary))
    filled = fill_tables(text, tmp_path)
    assert filled.startswith(f"before\n\n{start}\n") and f"\n{END}\n\nbehind\n" in filled
    assert filled.count("Not run") == 1
    assert "61.0 (77.4)" in filled
    assert fill_tables(filled, tmp_path) == filled


def test_committed_results_are_small_and_known():
    for path in (ROOT / RESULTS).glob("*.json"):
        assert path.stat().st_size <= MAX_BYTES
        assert json.loads(path.read_text(encoding="utf-8"))["recipe"] in recipe_names()


def test_the_command_writes_the_page_and_refuses_a_wrong_folder(output, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / PAGES_WITH_TABLES[0]
    page.parent.mkdir()
    page.write_text(f"{marker('reliance')}\n{END}\n")
    write_pages([str(output)])
    assert "Not run yet." in page.read_text()
    assert "61.0 (77.4)" in (tmp_path / PAGE).read_text()
    with pytest.raises(SystemExit) as stop:
        write_pages([str(tmp_path / "nowhere")])
    assert stop.value.code == 2 and "has no summary.json" in capsys.readouterr().err
