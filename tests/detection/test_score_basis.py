"""What scores are built from: which names follow, and what a model lacks."""

import numpy as np
import pytest

from masker.config import build_settings
from masker.detection.auto import Combination
from masker.detection.score_basis import ScoreBasis, part_of
from masker.detection.statistics import gather_statistics
from masker.errors import ConfigError, ModelError
from masker.inference.outputs import Outputs
from tests.detection.plug_in import MarginScore

SETTINGS = build_settings()
LOGITS = {"max-prob", "max-logit", "energy", "entropy"}
LABELS = np.arange(12) % 2
OUTPUTS = Outputs(
    np.random.default_rng(0).normal(size=(12, 2)).astype(np.float32),
    {"cls": np.random.default_rng(1).normal(size=(12, 3)).astype(np.float32)},
)
STATISTICS = gather_statistics([OUTPUTS], LABELS, 2, ["cls"], 10, 0)
COMBINATION = Combination({"knn": 0.0, "max-prob": 1.0}, {"knn": np.arange(9.0), "max-prob": np.arange(9.0)}, {"a": 1})


def test_names_follow_from_what_there_is():
    assert set(ScoreBasis().names()) == LOGITS
    distances = {"mahalanobis", "scaled-mahalanobis", "relative-mahalanobis", "knn"}
    assert set(ScoreBasis(STATISTICS).names()) == LOGITS | distances
    assert set(ScoreBasis(STATISTICS, COMBINATION).names()) == LOGITS | distances | {"auto"}


@pytest.mark.usefixtures("plug_in_scores")
def test_a_learnt_score_is_offered_once_it_is_learnt():
    assert "margin" not in ScoreBasis(STATISTICS).names()
    learnt = MarginScore.fit(OUTPUTS, LABELS, SETTINGS)
    assert set(ScoreBasis(learnt=learnt).names()) == {*LOGITS, "margin"}
    assert ScoreBasis(learnt=learnt).build("margin", SETTINGS) is learnt


@pytest.mark.usefixtures("plug_in_scores")
def test_what_a_model_lacks_is_named():
    for name, message in (
        ("auto", "no score 'auto'"),
        ("knn-middle", "no statistics for score 'knn-middle'"),
        ("margin", "has not learnt score 'margin'; train with --score margin, or .* --statistics"),
        ("openmax", "has not learnt score 'openmax'"),
    ):
        with pytest.raises(ModelError, match=message):
            ScoreBasis(STATISTICS).build(name, SETTINGS)
    with pytest.raises(ConfigError, match="Did you mean"):
        ScoreBasis(STATISTICS).build("knm", SETTINGS)


@pytest.mark.usefixtures("plug_in_scores")
def test_arrays_round_trip():
    basis = ScoreBasis(STATISTICS, COMBINATION, MarginScore.fit(OUTPUTS, LABELS, SETTINGS))
    arrays = basis.to_arrays()
    stored = {"offsets": COMBINATION.offsets, "evidence": COMBINATION.evidence}
    again = ScoreBasis.from_stored(stored, "margin", arrays, SETTINGS)
    assert again.names() == basis.names() and again.combination.evidence == {"a": 1}
    for name in basis.names():
        expected = basis.build(name, SETTINGS).ood_score(OUTPUTS)
        np.testing.assert_array_equal(again.build(name, SETTINGS).ood_score(OUTPUTS), expected)
    assert ScoreBasis.from_stored(None, "energy", {}, SETTINGS) == ScoreBasis()


def test_part_of():
    arrays = {"a.x": np.zeros(1), "a.y.z": np.ones(1), "ab": np.ones(2)}
    assert set(part_of(arrays, "a.")) == {"x", "y.z"}
