"""From planned selections to documents: classes, genres, stand-ins, and files that are no longer the same."""

from __future__ import annotations

import pytest

from masker.errors import DataError
from masker.experiments import data_selection as selection
from masker.experiments.data_selection import found_raw, read_selections
from masker.experiments.plan import RunOptions, plan_recipe
from masker.experiments.recipe import load_recipe
from masker.experiments.recipe_parts import Selection
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


def test_known_classes_are_drawn_from_the_labels_that_are_named(tmp_path, monkeypatch):
    """Half of four of the eight classes, whatever the other four are."""
    for split in ("train", "test"):
        write_corpus(tmp_path, "topics", split, [{"text": f"word {name}", "label": name} for name in "abcdefgh"])
    monkeypatch.setenv("MASKER_DATA", str(tmp_path))
    part = {"corpus": "topics", "sha256": [None], "genre": [], "without_labels": [], "documents": None}
    drawn = part | {"labels": list("aceg"), "class_ratio": 0.5, "class_seed": 1}
    seen, unseen = (set(read_selections([drawn | {"split": ["test"], "classes": classes}]).class_names)
                    for classes in ("seen", "unseen"))  # fmt: skip
    assert len(seen) == len(unseen) == 2 and seen | unseen == set("aceg")


def test_only_corpora_that_are_here_are_looked_at_before_a_run(tmp_path, monkeypatch):
    monkeypatch.setenv("MASKER_DATA", str(tmp_path))
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))
    assert found_raw(["20newsgroups"], fetch=False) == {}
    write_corpus(tmp_path, "20newsgroups", "train", [{"text": "only words", "label": "a"}])
    assert found_raw(["20newsgroups"], fetch=False) == {"20newsgroups": False}


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


def test_some_texts_of_each_class_are_drawn_by_the_seed_of_the_split(corpora, tiny_recipe):
    scale = load_recipe(tiny_recipe()).scale("small")
    few = Selection(corpus="topics", split="train", per_class=3)

    def planned(seed, chosen=few):
        return selection.plan_selection(chosen, scale, None, class_seed=seed, fetch=True)

    one, other = (read_selections([planned(seed)]) for seed in (0, 1))
    assert (
        [one.labels.count(name) for name in one.class_names]
        == [3, 3, 3, 3]
        == [other.labels.count(name) for name in other.class_names]
    )
    assert one.texts != other.texts
    assert planned(0)["per_class"] == 3 and "class_seed" not in planned(0) and planned(1)["class_seed"] == 1
    plain = Selection(corpus="topics", split="train")
    assert planned(1, plain) == planned(0, plain) and "per_class" not in planned(1, plain), "ids as before"


def test_a_test_set_of_the_classes_that_training_has(corpora, tiny_recipe):
    """Half of the four classes are drawn; of what is left of them, one document is trained on."""
    path = tiny_recipe(
        split_by_seed=True,
        sources={"S": {
            "train": {"corpus": "topics", "split": "train", "class_ratio": 0.5, "documents": 1},
            "tests": {"known": {"corpus": "topics", "split": "test", "classes": "trained"}},
            "ood": {"unseen": {"corpus": "topics", "split": "test", "class_ratio": 0.5, "classes": "unseen"}},
        }},
    )  # fmt: skip
    for seed in range(4):
        plan = plan_recipe(load_recipe(path), "small", RunOptions(seeds=[seed], only=["system=vanilla"]))
        inputs = plan.graph.stages[plan.runs[0].goal].inputs
        (train,) = (stage.inputs["data"] for stage in plan.graph.stages.values() if stage.kind == "train")
        known, trained = read_selections(inputs["tests"]["known"]), read_selections([train])
        assert known.class_names == trained.class_names and len(known.class_names) == 1 and len(known) == 8
        assert not set(known.class_names) & set(read_selections(inputs["ood"]["unseen"]).class_names)
