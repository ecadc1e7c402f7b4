"""Pictures of made-up results."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace

import pytest

from masker.report.recipe_figures import draw_figure

RATES = {"food": {"t: food": 50.0, "t: space": 0.0}, "space": {"t: food": 25.0, "t: space": 12.0}}
ENTRIES = [{"word": "soup", "score": 2.0}, {"word": "rocket", "score": 1.0}]
RESULTS = {
    "heatmap": {"rates": RATES},
    "tsne": {"points": {"one": [[0.0, 1.0], [1.0, 0.0]], "two": [[3.0, 3.0]]}, "silhouette": 0.5},
    "attention": {"words": {"other": {"mean": ENTRIES, "sum": ENTRIES}}},
    "keywords": {"keywords": ENTRIES},
}


def outcome(kind, folder):
    analysis = None if kind is None else SimpleNamespace(kind=kind)
    run = {"train": "Topics", "system": "vanilla", "seed": 0, "result": RESULTS.get(kind)}
    return SimpleNamespace(
        plan=SimpleNamespace(recipe=SimpleNamespace(analysis=analysis)),
        summary={"systems": {"vanilla": "Vanilla"}, "recipe": "drawn", "title": "A drawing"},
        folder=folder,
        results={"one": run, "two": run, "three": run, "other seed": {**run, "seed": 1}},
    )


@pytest.mark.parametrize("kind", list(RESULTS))
def test_every_kind_is_drawn(kind, tmp_path):
    pytest.importorskip("matplotlib")
    assert draw_figure(outcome(kind, tmp_path)) == tmp_path / "figure.svg"
    text = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert text.startswith("<?xml") and 'aria-label="A drawing' in text
    assert len(re.findall(r">[^<]*Topics", text)) == 3, "one panel for each result of the first seed"
    assert [path.name for path in tmp_path.iterdir()] == ["figure.svg"], "no temporary file stays"
    draw_figure(outcome(kind, tmp_path))
    assert (tmp_path / "figure.svg").read_text(encoding="utf-8") == text, "the same results give the same bytes"


@pytest.mark.parametrize("kind", [None, "reliance"])
def test_a_table_has_no_figure(kind, tmp_path):
    assert draw_figure(outcome(kind, tmp_path)) is None
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_the_way_to_install_it_is_named(tmp_path, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert draw_figure(outcome("keywords", tmp_path)) is None
    assert not list(tmp_path.iterdir())
    assert [record.message for record in caplog.records] == [
        "no figure drawn because matplotlib is not installed; install it with pip install 'masker[plots]'"
    ]
