"""What is learnt from training documents for a score, once and again."""

import numpy as np
import pytest

from masker.detection.basis_learner import BasisLearner, features_of_score
from masker.detection.score_basis import ScoreBasis
from masker.errors import ConfigError
from masker.inference.windows import document_outputs
from masker.registry import METHODS
from tests.detection.fake_backend import FakeBackend, documents, settings

TRAIN, OTHER = documents(150, 0), documents(90, 1)


def learner(chosen, backend=None) -> BasisLearner:
    own = METHODS.get(chosen.training.method).own_score
    return BasisLearner(backend or FakeBackend(), own or chosen.detection.score, chosen)


def assert_same(one: ScoreBasis, other: ScoreBasis) -> None:
    left, right = one.to_arrays(), other.to_arrays()
    assert list(left) == list(right)
    for name, array in left.items():
        np.testing.assert_array_equal(array, right[name])


def test_a_score_reads_its_features_and_auto_those_of_all_candidates():
    assert features_of_score("energy") == ()
    assert features_of_score("knn-middle") == ("middle",)
    assert set(features_of_score("auto")) == {"cls", "middle"}


def test_a_score_of_logits_gathers_no_statistics():
    basis = learner(settings("energy")).learn(TRAIN)
    assert basis.statistics is None and basis.learnt is None


def test_a_score_of_features_gathers_those_alone():
    basis = learner(settings("knn-middle")).learn(TRAIN)
    assert set(basis.statistics.moments) == {"middle"} and basis.learnt is None


def test_outputs_that_are_there_are_not_computed_again():
    class Silent(FakeBackend):
        def predict_outputs(self, encoded, kinds=("cls",), advance=None):
            pytest.fail("asked")

    chosen = settings(method="ocsvm")
    ready = document_outputs(FakeBackend(), TRAIN, "mean", kinds=("vectors",))
    assert_same(learner(chosen, Silent()).learn(TRAIN, ready), learner(chosen).learn(TRAIN))


def test_outputs_without_the_features_are():
    chosen = settings(method="ocsvm")
    lacking = document_outputs(FakeBackend(), TRAIN, "mean", kinds=("cls",))
    assert_same(learner(chosen).learn(TRAIN, lacking), learner(chosen).learn(TRAIN))


def test_again_is_for_the_score_and_for_those_that_the_model_has():
    before = learner(settings("knn")).learn(OTHER)
    again = learner(settings("knn-middle")).learn_again(before, TRAIN)
    assert list(again.statistics.moments) == ["middle", "cls"]
    fresh = learner(settings("knn")).learn(TRAIN)
    np.testing.assert_array_equal(again.statistics.moments["cls"].means, fresh.statistics.moments["cls"].means)


@pytest.mark.usefixtures("plug_in_scores")
def test_again_keeps_a_learnt_score_and_the_statistics_beside_it():
    both = learner(settings("margin")).learn_again(learner(settings("knn")).learn(OTHER), TRAIN)
    assert both.learnt.name == "margin" and set(both.statistics.moments) == {"cls"}
    again = learner(settings("knn")).learn_again(both, TRAIN)
    assert_same(again, both)


def test_statistics_that_nothing_is_learnt_from():
    energy = learner(settings("energy"))
    with pytest.raises(ConfigError, match="score 'energy' learns nothing from them"):
        energy.learn_again(energy.learn(TRAIN), TRAIN)
