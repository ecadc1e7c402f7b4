"""From planned selections to documents: classes, genres, stand-ins, and files that are no longer the same."""

from __future__ import annotations

import pytest

from masker.errors import DataError
from masker.experiments import data_selection as selection
from masker.experiments.data_selection import read_selections
from masker.experiments.plan import RunOptions, plan_recipe
from masker.experiments.recipe import load_recipe
from tests.experiments.conftest import write_corpus


def test_known_classes_are_drawn_from_training_documents(corpora, tiny_recipe, tmp_path, monkeypatch):
    """The test part has one class more and one less, and would draw others on its own."""
    folder = tmp_path / "uneven"
    folder.mkdir()
    for split, names in (("train", "abcdefgh"), ("test", "bcdefghxyz")):
        write_corpus(folder, "uneven", split, [{"text": f"word {name}", "label": name} for name in names])
    monkeypatch.setenv("MASKER_DATA", str(folder))
    part = {"corpus": "uneven", "sha256": [None], "genre": [], "labels": [], "without_labels": [], "documents": None}
    for seed in range(8):
        drawn = part | {"class_ratio": 0.5, "class_seed": seed}
        train = set(read_selections([drawn | {"split": ["train"], "classes": "seen"}]).class_names)
        seen, unseen = (set(read_selections([drawn | {"split": ["test"], "classes": classes}]).class_names)
                        for classes in ("seen", "unseen"))  # fmt: skip
        assert len(train) == 4 and seen == train - {"a"} and unseen == set("bcdefghxyz") - train


def test_other_text_under_the_same_name_is_another_experiment(data_folder, tiny_recipe, tmp_path, monkeypatch):
    recipe = load_recipe(tiny_recipe())
    monkeypatch.setenv("MASKER_DATA", str(data_folder))
    before = plan_recipe(recipe, "small", RunOptions(seeds=[0]))
    other = tmp_path / "other"
    other.mkdir()
    for file in data_folder.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    monkeypatch.setenv("MASKER_DATA", str(other))
    assert set(plan_recipe(recipe, "small", RunOptions(seeds=[0])).graph.stages) == set(before.graph.stages)
    write_corpus(other, "foreign", "test", [{"text": "other words", "label": "food"}] * 3)
    selection._cached_sha256.cache_clear()
    after = plan_recipe(recipe, "small", RunOptions(seeds=[0]))
    shared = set(after.graph.stages) & set(before.graph.stages)
    assert {before.graph.stages[i].kind for i in shared} == {"train", "keywords"}, "only evaluations read that file"
    part = next(s for s in before.graph.stages.values() if s.kind == "evaluate").inputs["ood"]["SST-2"]
    with pytest.raises(DataError, match="is not the file that this experiment was planned with"):
        read_selections(part)
