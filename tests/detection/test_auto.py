"""What auto consists of follows from what separates stand-ins from held-out documents, and from nothing else."""

import math

import numpy as np
import pytest

from masker.config import build_settings
from masker.detection import auto
from masker.detection.auto import (
    DISTANCE_LEADS,
    GUARDS,
    LOGIT_LEADS,
    Combination,
    JointScore,
    candidate_features,
    choose_combination,
    left_out_auroc,
    views_auroc,
)
from masker.detection.score import Score, build_score
from masker.detection.statistics import gather_statistics
from masker.inference.outputs import Outputs

SETTINGS = build_settings({"model": {"head": "multi-class"}})
CENTRES = np.array([[6.0, 0, 0, 0], [0, 6.0, 0, 0], [0, 0, 6.0, 0]])


def documents(count, seed, *, shift=0.0, certain=True, style=0.0):
    """Logits that know the class or nothing; features of the classes, shifted; style in the middle layers."""
    draw = np.random.default_rng(seed)
    labels = np.arange(count) % 3
    logits = 3 * np.eye(3)[labels] * certain + draw.normal(size=(count, 3))
    cls = CENTRES[labels] + draw.normal(size=(count, 4)) + shift * np.array([0, 0, 0, 1.0])
    middle = draw.normal(size=(count, 4)) + style
    features = {"cls": cls.astype(np.float32), "middle": middle.astype(np.float32)}
    return Outputs(logits.astype(np.float32), features), labels


@pytest.fixture(scope="module")
def known():
    train, labels = documents(300, 0)
    return gather_statistics([train], labels, 3, ["cls", "middle"], 200, 0)


def chosen(known, **stand_in):
    held_out, labels = documents(90, 1)
    return choose_combination(known, held_out, labels, {"view": documents(90, 2, **stand_in)[0]}, SETTINGS)


def test_a_distance_leads_where_features_separate(known):
    combination = chosen(known, shift=6.0)
    assert next(iter(combination.offsets)) == "scaled-mahalanobis"
    assert combination.evidence["scaled-mahalanobis"]["view"] > 0.99 > combination.evidence["max-prob"]["view"]


def test_a_logit_score_leads_where_only_logits_separate(known):
    lead = next(iter(chosen(known, certain=False).offsets))
    assert lead in LOGIT_LEADS


def test_a_guard_is_chosen_where_style_separates(known):
    combination = chosen(known, shift=2.0, style=5.0)
    lead, guard = combination.offsets
    assert (
        lead in (*DISTANCE_LEADS, *LOGIT_LEADS)
        and guard in GUARDS
        and combination.offsets[lead] == 0.0 < combination.offsets[guard]
    )
    assert set(combination.references) == {lead, guard} and all(
        len(part) == 90 for part in combination.references.values()
    )
    together = combination.evidence[f"{lead} + {guard}"]["view"]
    assert together >= combination.evidence[lead]["view"]


@pytest.mark.parametrize(("style", "offset"), [(1.0, 0.0), (50.0, np.log(20.0))])
def test_with_two_classes_the_guard_may_count_in_full(style, offset):
    """A small difference in style is lost below the guard's offset; if it is large, the offset stays."""

    def two(count, seed, **options):
        outputs, labels = documents(count, seed, **options)
        return Outputs(outputs.logits[:, :2], outputs.features), labels % 2

    train, labels = two(300, 0)
    known = gather_statistics([train], labels, 2, ["cls", "middle"], 200, 0)
    held_out, labels = two(90, 1)
    combination = choose_combination(known, held_out, labels, {"view": two(90, 2, style=style)[0]}, SETTINGS)
    lead, guard = combination.offsets
    assert combination.offsets == {lead: 0.0, guard: pytest.approx(offset)}
    assert {f"{lead} + {guard}", f"{lead} + {guard} in full"} <= set(combination.evidence)


def test_one_form_of_guard_that_is_no_worse_is_enough(monkeypatch):
    """By hand: the lead 0.898, guarded 0.895, guarded in full 0.900. Only the last is no worse than the lead."""

    def told(score, held_out, stand_ins):
        if not isinstance(score, JointScore):
            return {"view": 0.898}
        in_full = all(offset == 0 for _, offset in score._joint._parts.values())
        return {"view": 0.9 if in_full else 0.895}

    monkeypatch.setattr(auto, "views_auroc", told)
    train, labels = documents(300, 0)
    two = Outputs(train.logits[:, :2], train.features)
    known = gather_statistics([two], labels % 2, 2, ["cls", "middle"], 200, 0)
    combination = choose_combination(known, two, labels % 2, {"view": two}, SETTINGS)
    assert len(combination.offsets) == 2 and set(combination.offsets.values()) == {0.0}


@pytest.mark.parametrize(("better", "lead"), [(0.015, "scaled-mahalanobis"), (0.025, "mahalanobis")])
def test_preference_decides_between_distances_that_are_nearly_equal(known, monkeypatch, better, lead):
    def told(score, held_out, stand_ins):
        return {"view": {"scaled-mahalanobis": 0.9, "mahalanobis": 0.9 + better}.get(score.name, 0.5)}

    monkeypatch.setattr(auto, "views_auroc", told)
    monkeypatch.setattr(auto, "left_out_auroc", lambda *args: {})
    held_out, labels = documents(90, 1)
    assert next(iter(choose_combination(known, held_out, labels, {"view": held_out}, SETTINGS).offsets)) == lead


def test_a_guard_that_does_harm_is_dropped(known):
    """Logits separate; the middle layers of all stand-ins are equal and typical: a guard rejects documents only."""
    held_out, labels = documents(90, 1)
    unsure = documents(90, 2, certain=False)[0]
    usual = np.tile(known.bank["middle"][np.linalg.norm(known.bank["middle"], axis=1).argmin()], (90, 1))
    stand_in = Outputs(unsure.logits, {**unsure.features, "middle": usual})
    combination = choose_combination(known, held_out, labels, {"view": stand_in}, SETTINGS)
    assert len(combination.offsets) == 1


def test_left_out_class_by_hand(known):
    """Classes are six standard deviations apart on their own axes: a left-out one is far from both others."""
    held_out, labels = documents(90, 1)
    figures = left_out_auroc(known, held_out, labels, ["mahalanobis", "knn"], SETTINGS)
    assert set(figures) == {"mahalanobis", "knn"} and min(figures.values()) > 0.95
    two = gather_statistics([Outputs(held_out.logits[:, :2], held_out.features)], labels % 2, 2, ["cls"], 50, 0)
    assert left_out_auroc(two, Outputs(held_out.logits[:, :2], held_out.features), labels % 2, ["knn"], SETTINGS) == {}


def test_views_against_pairs(known):
    held_out, _ = documents(30, 1)
    score = build_score("energy", known, SETTINGS)
    other = documents(20, 3, certain=False)[0]
    pairs = score.ood_score(other)[:, None] > score.ood_score(held_out)
    assert views_auroc(score, score.ood_score(held_out), {"x": other}) == {"x": round(pairs.mean(), 4)}


def test_joint_score_reads_what_its_members_read():
    """Reference scores 1 ... 20: p(18) = (1 + 3) / 21, so two members at 18 give 2 log(21 / 4), and 0 gives nothing."""

    class Column(Score):
        def __init__(self, name, kind):
            self.name, self.features = name, (kind,)

        def ood_score(self, outputs):
            return outputs.features[self.features[0]][:, 0]

    members = [Column("a", "cls"), Column("b", "middle"), Column("c", "cls")]
    combination = Combination(dict.fromkeys("abc", 0.0), dict.fromkeys("abc", np.arange(1.0, 21.0)))
    joint = JointScore(members, combination)
    assert joint.features == ("cls", "middle") and joint.name == "auto"
    outputs = Outputs(np.zeros((1, 2)), {"cls": np.array([[18.0]]), "middle": np.array([[0.0]])})
    assert joint.ood_score(outputs) == pytest.approx([2 * math.log(21 / 4)])


def test_candidates_read_two_kinds_of_features():
    assert candidate_features() == ("cls", "middle")
