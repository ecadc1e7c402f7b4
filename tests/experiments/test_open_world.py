"""discover, extend and review on made-up classes of which half are known."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from masker.documents import Documents
from masker.experiments.engines import Execution
from masker.experiments.open_world import OpenWorld, told_apart
from masker.experiments.reproduce import reproduce
from masker.experiments.stages import read_result, stage_folder
from masker.report.reproduction import write_report

PARTS = ("discover", "extend", "review")
OPTIONS = {
    "discover": {"most_groups": 4, "k_means_runs": 1},
    "extend": {"new_texts": 4},
    "review": {"pool": 100, "budgets": [6]},
}


def unseen(corpus="topics"):
    return {"corpus": corpus, "split": "test", "class_ratio": 0.5, "classes": "unseen"}


@pytest.fixture
def open_world(corpora, tiny_recipe):
    """The file of a recipe with all three parts."""
    source = {
        "train": {"corpus": "topics", "split": "train", "class_ratio": 0.5, "documents": 20},
        "tests": {"known classes": {"corpus": "topics", "split": "test", "classes": "trained"}},
        "ood": {"others": {"corpus": "foreign", "split": "test"}, "unseen classes": unseen()},
        "in_paper": False,
    }
    return tiny_recipe(
        "tiny-world",
        settings={"model": {"max_length": 24}, "training": {"batch_size": 8, "epochs": 1, "precision": "fp32"}},
        split_by_seed=True,
        sources={"Topics 50 %": source},
        systems={part: {"title": part, "part": part, "start": "defaults"} for part in PARTS},
        analysis={"kind": "open-world", "options": OPTIONS},
        comparisons=[],
        metrics=[],
        table=None,
        scale={"seeds": [1]},
    )


def test_the_parts_share_a_model_and_a_finished_part_does_not_run_again(open_world, tmp_path):
    archive = tmp_path / "stages.jsonl.gz"
    [outcome] = reproduce([open_world], tmp_path / "out", execution=Execution(stages=archive))
    stages = outcome.plan.graph.stages
    assert sorted(stage.kind for stage in stages.values()) == ["discover", "extend", "review", "train", "train"]
    first = {stages[run.goal].depends_on[0] for run in outcome.plan.runs}
    assert len(first) == 1, "trained on the known classes once"
    discover, extend, review = outcome.summary["analysis"]

    assert (discover["texts"], discover["classes"]) == (16, 2) and 1 <= discover["groups"] <= 4
    for who in ("masker", "k_means"):
        assert 0 < discover[who]["accuracy"] <= 1
    assert discover["documents"] == {"unseen classes": 16}, "it reads nothing else"

    assert (extend["old_classes"], extend["new_classes"], extend["new_texts"]) == (2, 2, 8)
    assert extend["before"]["accuracy_new"] is None and extend["before"]["rejected_old"] is not None
    retrained = read_result(tmp_path / "out", stages[outcome.plan.runs[1].goal].depends_on[1])["result"]
    assert (retrained["documents"], len(retrained["classes"])) == (28, 4), "old and new texts"
    for who in ("extended", "retrained"):
        assert all(0 <= value <= 1 for value in extend[who].values())

    assert review["pool"] == 64 - 20, "all texts but those trained on"
    assert list(review["budgets"]) == ["6"] and 0 < review["budgets"]["6"]["chosen"] <= 6
    assert review["documents"] == {"known classes": 16, "unseen classes": 16, "others": 24}
    assert {row["ours"] for row in outcome.summary["comparisons"]} == {"masker", "extended", "review"}
    assert all(row["units"] == 1 for row in outcome.summary["comparisons"])

    text = write_report(outcome)
    assert text.count("| Topics 50 % ") == 3 and "chosen texts against random texts, AUROC" in text
    assert (outcome.folder / "table.md").read_text() == text
    before = {name: stage_folder(tmp_path / "out", name).stat().st_mtime_ns for name in stages}
    [again] = reproduce([open_world], tmp_path / "out")
    assert before == {name: stage_folder(tmp_path / "out", name).stat().st_mtime_ns for name in stages}
    [elsewhere] = reproduce([open_world], tmp_path / "other", execution=Execution(stages=archive, finished=True))
    assert json.dumps(elsewhere.summary) == json.dumps(again.summary) == json.dumps(outcome.summary)


class Judge:
    """Answers and rejects what it is told to, and is sure of it."""

    def __init__(self, classes, answers):
        self.classes, self.answers = classes, answers

    def judge(self, texts):
        told = [self.answers[text] for text in texts]
        probabilities = np.zeros((len(texts), len(self.classes)))
        for row, (first, second, _) in enumerate(told):
            probabilities[row, self.classes.index(first)] = 0.6
            probabilities[row, self.classes.index(second)] += 0.4
        rejected = np.array([is_rejected for _, _, is_rejected in told])
        return SimpleNamespace(
            predicted=probabilities.argmax(axis=1),
            probabilities=probabilities,
            rejected=rejected,
            scores=1.0 * rejected,
        )


def test_old_new_and_foreign_texts_are_told_apart_by_hand():
    """Old classes a and b, new class c; nothing was ever labelled d.

    Of four old texts two are right; one of the others went to c, and among old classes it would have been right, too.
    Of two new texts one is right, and one is rejected. Five of the six texts of a, b and c are accepted, and one of the
    two foreign texts: so of the 12 pairs, 5 are in order, 6 are ties and 1 is not: AUROC (5 + 3) / 12.
    """
    known = Documents(["a1", "a2", "b1", "b2"], None, ["a", "a", "b", "b"], "known")
    others = Documents(["c1", "c2", "d1"], None, ["c", "c", "d"], "unseen")
    foreign = Documents(["f1", "f2"], None, ["x", "x"], "foreign")
    world = OpenWorld(known, others, foreign, foreign, seed=0)
    answers = {
        "a1": ("a", "b", False), "a2": ("c", "a", False), "b1": ("b", "a", False), "b2": ("a", "b", False),
        "c1": ("c", "a", False), "c2": ("b", "c", True), "d1": ("a", "b", True),
        "f1": ("a", "b", False), "f2": ("a", "b", True),
    }  # fmt: skip
    found = told_apart(Judge(["a", "b", "c"], answers), world, ["a", "b"])
    assert found == pytest.approx(
        {
            "among_old": 3 / 4, "accuracy_old": 2 / 4, "rejected_old": 0.0, "accuracy_new": 1 / 2,
            "rejected_new": 1 / 2, "rejected_known": 1 / 6, "rejected_foreign": 1 / 2, "auroc": 8 / 12,
        },
        abs=1e-6,
    )  # fmt: skip
    answers["a2"] = answers["c1"] = ("a", "b", False)
    answers["c2"] = ("b", "a", True)
    before = told_apart(Judge(["a", "b"], answers), world, ["a", "b"])
    assert before["accuracy_new"] is None and before["rejected_new"] is None
    assert before["rejected_known"] == 0.0 and before["accuracy_old"] == before["among_old"] == 0.75
