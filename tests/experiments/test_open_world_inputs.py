"""What each part of the analysis is given."""

from __future__ import annotations

import pytest

from masker.errors import ConfigError
from masker.experiments.open_world_inputs import all_documents, new_documents, part_inputs
from masker.experiments.recipe_parts import Encoder, ExtendPart, OpenWorldOptions
from masker.experiments.run_settings import RunCoordinates

DATA = {"corpus": "c", "split": ["train"], "class_ratio": 0.5, "class_seed": 3, "classes": "seen", "documents": 9}
SEEN = {**DATA, "split": ["test"]}
UNSEEN = {**SEEN, "classes": "unseen"}
FOREIGN = {**SEEN, "corpus": "f", "class_ratio": None}
TESTS, OOD = {"known": [SEEN], "far": [FOREIGN]}, {"foreign": [FOREIGN], "unseen": [UNSEEN]}
RUN = RunCoordinates("C 50 %", "s", "BERT", Encoder(model="m"), 3)


def inputs(part, data=DATA, ood=OOD, **options):
    return part_inputs(part, OpenWorldOptions.model_validate(options), data, (TESTS, ood), RUN)


def test_a_part_reads_what_it_needs_and_no_more():
    discover, extend, review = (inputs(part) for part in ("discover", "extend", "review"))
    assert discover == {
        "train": DATA, "seed": 3, "options": {"most_groups": 100, "k_means_runs": 3}, "tests": {},
        "ood": {"unseen": [UNSEEN]},
    }  # fmt: skip
    assert inputs("discover", review={"budgets": [7]}) == discover, "its stage stays finished"
    for both in (extend, review):
        assert list(both["tests"]) == ["known"] and list(both["ood"]) == ["unseen", "foreign"]
    assert extend["labelled"] == new_documents(DATA, ExtendPart()) and extend["options"] == {"new_texts": 10}
    assert review["labelled"] == all_documents(DATA) and review["options"]["budgets"] == [50, 100, 200]


def test_new_texts_are_of_the_classes_that_this_seed_did_not_draw():
    new = new_documents(DATA, ExtendPart(new_texts=4))
    assert (new["classes"], new["per_class"], new["documents"], new["class_seed"]) == ("unseen", 4, None, 3)
    whole = all_documents({**DATA, "per_class": 5})
    assert whole == {"corpus": "c", "split": ["train"], "class_ratio": None, "classes": "seen", "documents": None}


@pytest.mark.parametrize(
    ("data", "ood", "got"),
    [
        ({**DATA, "class_ratio": None}, OOD, "foreign, unseen"),
        (DATA, {"unseen": [UNSEEN]}, "unseen"),
        (DATA, {"one": [FOREIGN], "two": [FOREIGN]}, "one, two"),
        (DATA, {}, "none"),
    ],
)
def test_a_source_without_unseen_classes_or_foreign_texts(data, ood, got):
    with pytest.raises(ConfigError, match=f"source 'C 50 %': .* class_ratio below 1, and two sets .* got {got}$"):
        inputs("extend", data, ood)
