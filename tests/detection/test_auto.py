"""auto is the highest logit and the nearest neighbour, and a guard where it helps to tell stand-ins."""

import math

import numpy as np
import pytest

from masker.config import build_settings
from masker.detection.auto import (
    CANDIDATES,
    CLASS_GUARD,
    CLASS_GUARD_OFFSET,
    GUARD_OFFSET,
    GUARDS,
    LEADS,
    Combination,
    JointScore,
    Observed,
    candidate_features,
    choose_combination,
    observe_candidates,
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


def observed(known, count=90, **stand_in):
    held_out, labels = documents(count, 1)
    return observe_candidates(known, held_out, labels, {"view": documents(count, 2, **stand_in)[0]}, SETTINGS)


def test_every_candidate_scores_documents_and_stand_ins(known):
    held_out, labels = documents(30, 1)
    other = documents(20, 3, certain=False)[0]
    found = observe_candidates(known, held_out, labels, {"x": other}, SETTINGS)
    assert list(found.scores) == list(found.stand_ins["x"]) == list(CANDIDATES)
    for name in CANDIDATES:
        score = build_score(name, known, SETTINGS)
        np.testing.assert_array_equal(found.scores[name], score.ood_score(held_out))
        np.testing.assert_array_equal(found.stand_ins["x"][name], score.ood_score(other))
    assert found.logits is held_out.logits and found.labels is labels


def test_observations_of_several_networks_are_joined(known):
    one, other = observed(known, 30), observed(known, 21, style=2.0)
    both = Observed.joined([one, other])
    assert both.logits.shape == (51, 3) and both.labels.tolist() == [*one.labels, *other.labels]
    for name in CANDIDATES:
        np.testing.assert_array_equal(both.scores[name], [*one.scores[name], *other.scores[name]])
        views = [*one.stand_ins["view"][name], *other.stand_ins["view"][name]]
        np.testing.assert_array_equal(both.stand_ins["view"][name], views)


def test_the_class_guard_joins_too_unless_networks_were_averaged(known):
    seen = observed(known, shift=2.0, style=5.0)
    one = choose_combination(seen)
    *leads, middle = one.offsets
    assert leads == [*LEADS, CLASS_GUARD] and middle in GUARDS
    assert one.offsets[CLASS_GUARD] == CLASS_GUARD_OFFSET and one.offsets[middle] == GUARD_OFFSET
    averaged = choose_combination(Observed.joined([seen]))
    assert list(averaged.offsets) == [*LEADS, middle]


def test_a_guard_joins_where_style_separates(known):
    combination = choose_combination(Observed.joined([observed(known, shift=2.0, style=5.0)]))
    *leads, guard = combination.offsets
    assert tuple(leads) == LEADS and guard in GUARDS
    assert combination.offsets == {**dict.fromkeys(LEADS, 0.0), guard: GUARD_OFFSET}
    assert set(combination.references) == {*LEADS, guard}
    assert all(len(part) == 90 for part in combination.references.values())
    alone, together = (combination.evidence[" + ".join(names)]["view"] for names in (LEADS, (*LEADS, guard)))
    assert together > alone


@pytest.mark.parametrize(("count", "guarded"), [(19, False), (20, True)])
def test_few_documents_choose_no_guard(known, count, guarded):
    combination = choose_combination(Observed.joined([observed(known, count, style=5.0)]))
    assert len(combination.offsets) == 2 + guarded and tuple(combination.offsets)[:2] == LEADS


def hand_made(**stand_ins) -> Observed:
    """A hundred documents with scores 0 ... 99; stand-ins by score, 50 where not given."""
    scores = np.arange(100.0)
    views = {name: np.full(100, stand_ins.get(name.replace("-", "_"), 50.0)) for name in CANDIDATES}
    labels = np.zeros(100, dtype=np.int64)
    return Observed(np.zeros((100, 2)), labels, dict.fromkeys(CANDIDATES, scores), {"x": views}, averaged=True)


def test_a_guard_that_does_harm_is_dropped():
    """Both leads place the stand-ins above 95.5 % of the documents; a guard finds them usual and some documents not."""
    given = {name.replace("-", "_"): 0.0 for name in GUARDS}
    combination = choose_combination(hand_made(max_logit=95.0, knn=95.0, **given))
    alone, guarded = (combination.evidence[" + ".join(names)]["x"] for names in (LEADS, (*LEADS, GUARDS[0])))
    assert alone == pytest.approx(0.955) and guarded < alone - 0.01
    assert combination.offsets == dict.fromkeys(LEADS, 0.0)


@pytest.mark.parametrize(("better", "guard"), [(0.0, GUARDS[0]), (1.0, GUARDS[0]), (2.0, GUARDS[1])])
def test_preference_decides_between_guards_that_are_nearly_equal(better, guard):
    """A stand-in at 90 is above 90.5 % of the documents; one score point more is 1 %."""
    given = {GUARDS[0]: 90.0, GUARDS[1]: 90.0 + better}
    combination = choose_combination(hand_made(**{name.replace("-", "_"): value for name, value in given.items()}))
    assert combination.evidence[GUARDS[1]]["x"] == pytest.approx((90.5 + better) / 100)
    assert list(combination.offsets) == [*LEADS, guard]


def test_evidence_by_pairs(known):
    seen = observed(known, certain=False, shift=1.0)
    evidence = choose_combination(seen).evidence
    for name in CANDIDATES:
        pairs = seen.stand_ins["view"][name][:, None] > seen.scores[name]
        assert evidence[name] == {"view": pytest.approx(pairs.mean(), abs=1e-4)}


def test_where_one_lead_is_blind_the_other_sees(known):
    """Unsure logits among usual features, sure logits far from all features: the sum tells both."""
    for blind, options in (("knn", {"certain": False}), ("max-logit", {"shift": 6.0})):
        evidence = choose_combination(observed(known, **options)).evidence
        assert evidence[blind]["view"] < 0.6 and evidence[" + ".join(LEADS)]["view"] > 0.75


def test_joint_score_reads_what_its_members_read():
    """Reference scores 1 ... 20: p(12) = (1 + 9) / 21, so two members at 12 give 2 log(21 / 10); 0 gives none."""

    class Column(Score):
        def __init__(self, name, kind):
            self.name, self.features = name, (kind,)

        def ood_score(self, outputs):
            return outputs.features[self.features[0]][:, 0]

    members = [Column("a", "cls"), Column("b", "middle"), Column("c", "cls")]
    combination = Combination(dict.fromkeys("abc", 0.0), dict.fromkeys("abc", np.arange(1.0, 21.0)))
    joint = JointScore(members, combination)
    assert joint.features == ("cls", "middle") and joint.name == "auto"
    outputs = Outputs(np.zeros((1, 2)), {"cls": np.array([[12.0]]), "middle": np.array([[0.0]])})
    assert joint.ood_score(outputs) == pytest.approx([2 * math.log(21 / 10)])


def test_candidates_read_two_kinds_of_features():
    assert candidate_features() == ("cls", "middle")
