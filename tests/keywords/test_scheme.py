"""Evidence is gathered on demand, once; a scheme needs only class scores."""

import numpy as np
import pytest

from masker.errors import ConfigError
from masker.keywords.attention import AttentionScores
from masker.keywords.scheme import Evidence, KeywordScheme, scheme_scores

COUNTS = np.array([[2, 4, 1], [0, 3, 5]])


class CountScheme(KeywordScheme):
    name = "count"

    def class_scores(self, evidence):
        return np.where(evidence.counts > 0, evidence.counts.astype(float), -np.inf)


def test_counts_are_taken_once_and_only_when_asked_for():
    calls = []
    evidence = Evidence(lambda: calls.append("counted") or COUNTS)
    assert calls == []
    assert evidence.counts is COUNTS
    assert evidence.counts is COUNTS
    assert calls == ["counted"]


def test_attention_is_read_once_and_without_counting():
    def refuse():
        raise AssertionError("tokens were counted")

    calls = []
    sums = AttentionScores(1, 4)
    evidence = Evidence(refuse, lambda: calls.append("read") or sums)
    assert evidence.attention is sums
    assert evidence.attention is sums
    assert calls == ["read"]


def test_without_a_model_the_error_names_a_scheme_that_works():
    with pytest.raises(ConfigError, match=r"fine-tuned encoder.*--keywords frequency"):
        _ = Evidence(lambda: COUNTS).attention


def test_scores_default_to_the_best_class():
    """Class scores (2, 4, 1) and (−inf, 3, 5): the maximum over classes is (2, 4, 5)."""
    evidence = Evidence(lambda: COUNTS)
    assert CountScheme().scores(evidence).tolist() == [2.0, 4.0, 5.0]
    assert scheme_scores(CountScheme(), evidence).tolist() == [2.0, 4.0, 5.0]
    assert scheme_scores(CountScheme(), evidence, class_balanced=True).tolist() == [
        [2.0, 4.0, 1.0],
        [-np.inf, 3.0, 5.0],
    ]


def test_a_scheme_must_score():
    class Silent(KeywordScheme):
        name = "silent"

    with pytest.raises(TypeError, match="class_scores"):
        Silent()
