"""Every registered score, and how scores are registered and built."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from masker.config import build_settings
from masker.detection.score import (
    REMOVED_SCORES,
    LearntScore,
    MissingScore,
    Score,
    build_score,
    register_score,
)
from masker.detection.statistics import Statistics, gather_statistics
from masker.errors import ConfigError, ModelError
from masker.inference.outputs import Outputs
from masker.registry import METHODS, SCORES

DRAW = np.random.default_rng(0)
LABELS = np.arange(60) % 3
LOGITS = (4.0 * np.eye(3)[LABELS] + DRAW.normal(size=(60, 3))).astype(np.float32)
FEATURES = np.eye(3)[LABELS] + 0.1 * DRAW.normal(size=(60, 3))
KINDS = ("cls", "middle")
TRAIN = Outputs(LOGITS, {"vectors": FEATURES, **dict.fromkeys(KINDS, FEATURES.astype(np.float32))})
STRANGE = Outputs(
    np.full((1, 3), -0.5, dtype=np.float32),
    {"vectors": np.full((1, 3), 5.0), **dict.fromkeys(KINDS, np.array([[5.0, -5.0, 5.0]], dtype=np.float32))},
)
SETTINGS = build_settings()
OFFERED = [
    "energy", "entropy", "knn", "knn-middle", "mahalanobis", "mahalanobis-middle", "max-logit", "max-prob",
    "relative-mahalanobis", "relative-mahalanobis-middle", "scaled-mahalanobis", "scaled-mahalanobis-middle",
]  # fmt: skip
OWN = {row.own_score: method for method, row in METHODS.items() if row.own_score is not None}
LEARNT = [name for name in OWN if issubclass(SCORES.get(name), LearntScore)]


def statistics(outputs=TRAIN, labels=LABELS, n_classes=3) -> Statistics:
    return gather_statistics([outputs], labels, n_classes, KINDS, 1000, 0)


def fitted(name: str) -> tuple[LearntScore, type[LearntScore]]:
    score = SCORES.get(name)
    return score.fit(TRAIN, LABELS, build_settings({"training": {"method": OWN[name]}})), score


def score_of(name: str) -> Score:
    return fitted(name)[0] if name in LEARNT else build_score(name, statistics(), SETTINGS)


class TestRegisteredScores:
    def test_names(self):
        assert sorted(name for name, score in SCORES.items() if not score.method_only) == OFFERED
        assert sorted(OWN) == sorted(name for name, score in SCORES.items() if score.method_only)
        assert all(score.name == name for name, score in SCORES.items())
        assert not REMOVED_SCORES & set(SCORES)

    def test_own_rules_are_those_of_the_methods(self):
        for name, method in OWN.items():
            assert (SCORES.get(name).published_threshold is not None) == METHODS.get(method).own_rule

    @pytest.mark.parametrize("name", [*OFFERED, *OWN])
    def test_what_resembles_no_class_scores_higher(self, name):
        score = score_of(name)
        assert score.ood_score(STRANGE)[0] > np.median(score.ood_score(TRAIN))

    @pytest.mark.parametrize("name", [*OFFERED, *OWN])
    def test_reads_no_more_than_it_says(self, name):
        score = score_of(name)
        only = Outputs(LOGITS, {kind: TRAIN.features[kind] for kind in score.features})
        np.testing.assert_array_equal(score.ood_score(only), score.ood_score(TRAIN))

    @pytest.mark.parametrize("name", OFFERED)
    def test_rebuilt_from_stored_statistics_it_scores_the_same(self, name):
        first = statistics()
        again = Statistics.from_arrays(first.to_arrays())
        expected = build_score(name, first, SETTINGS).ood_score(STRANGE)
        np.testing.assert_array_equal(build_score(name, again, SETTINGS).ood_score(STRANGE), expected)

    @pytest.mark.parametrize("name", LEARNT)
    def test_rebuilt_from_its_state_it_scores_the_same(self, name):
        score, kind = fitted(name)
        again = kind.from_state(score.state(), build_settings({"training": {"method": OWN[name]}}))
        np.testing.assert_array_equal(again.ood_score(TRAIN), score.ood_score(TRAIN))

    @pytest.mark.parametrize("name", ["mahalanobis", "scaled-mahalanobis", "relative-mahalanobis"])
    def test_a_class_without_documents_has_no_place(self, name):
        """Its mean would be the origin, and a text at the origin the least strange of all."""
        some = LABELS != 1
        part = Outputs(LOGITS[some], dict.fromkeys(KINDS, FEATURES[some].astype(np.float32)))
        with_gap = build_score(name, statistics(part, LABELS[some]), SETTINGS)
        without = build_score(name, statistics(part, LABELS[some] // 2, 2), SETTINGS)
        origin = Outputs(LOGITS[:1], dict.fromkeys(KINDS, np.zeros((1, 3), dtype=np.float32)))
        np.testing.assert_allclose(with_gap.ood_score(origin), without.ood_score(origin))
        assert with_gap.ood_score(origin) > np.median(with_gap.ood_score(part))


class TestBuild:
    def test_scores_of_logits_need_no_statistics(self):
        for name in ("max-prob", "max-logit", "energy", "entropy"):
            assert build_score(name, None, SETTINGS).name == name

    def test_missing_statistics_and_names(self):
        with pytest.raises(ModelError, match="no statistics for score 'knn'; train with --score knn"):
            build_score("knn", None, SETTINGS)
        with pytest.raises(ModelError, match="no statistics for score 'knn-middle'"):
            build_score("knn-middle", gather_statistics([TRAIN], LABELS, 3, ["cls"], 9, 0), SETTINGS)
        with pytest.raises(ConfigError, match="Did you mean 'energy'"):
            build_score("enrgy", None, SETTINGS)


class TestRegistration:
    @pytest.mark.usefixtures("plug_in_scores")
    def test_one_class_under_two_names(self):
        known = statistics()
        near, middle = (build_score(name, known, SETTINGS) for name in ("euclidean", "euclidean-middle"))
        assert (near.features, middle.features) == (("cls",), ("middle",))
        moved = Outputs(LOGITS, {**TRAIN.features, "middle": FEATURES + 3.0})
        assert (middle.ood_score(moved) > middle.ood_score(TRAIN)).all()
        np.testing.assert_array_equal(near.ood_score(moved), near.ood_score(TRAIN))

    def test_the_example_in_the_docs(self, monkeypatch):
        """Logits (3, 1, 0) have margin 2, (1, 1, 0) none."""
        monkeypatch.setattr(SCORES, "_entries", dict(SCORES.items()))
        page = Path(__file__).parents[2] / "docs" / "scores.md"
        (example,) = [block for block in page.read_text().split("```python\n") if "@register_score" in block]
        exec(example.split("```")[0], {})
        score = build_score("margin", None, SETTINGS)
        assert score.ood_score(Outputs(np.array([[3.0, 1.0, 0.0], [1.0, 1.0, 0.0]]))).tolist() == [-2.0, 0.0]

    @pytest.mark.parametrize("name", ["auto", "predicted", "", None, "energy"])
    def test_a_name_that_cannot_be_used(self, name):
        bad = type("BadScore", (Score,), {} if name is None else {"name": name})
        with pytest.raises(ConfigError, match=r"BadScore needs a name|two entries"):
            register_score(bad)
        assert SCORES.get("energy") is not bad


@pytest.mark.parametrize(("name", "why"), [("vim", "was removed from masker"), ("mine", "is not installed")])
def test_a_missing_score_says_what_to_do(name, why):
    with pytest.raises(ModelError, match=f"score '{name}', which {why}.*masker calibrate MODEL DATA --score auto"):
        MissingScore(name).ood_score(TRAIN)


def test_scores_are_registered_without_slow_imports():
    code = (
        "import sys; from masker.registry import SCORES; assert len(list(SCORES)) > 10; "
        "print([name for name in ('torch', 'transformers', 'sklearn', 'scipy.stats') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
