"""The linear classifier on fixed vectors."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from masker.inference.linear_backend import LinearScorer

X = np.random.default_rng(0).normal(size=(60, 4))


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn(classes):
    labels = (X @ np.arange(8.0).reshape(4, 2)[:, :1]).argsort(axis=0)[:, 0] % classes
    scorer = LinearScorer.fit(None, X, labels)
    expected = LogisticRegression(max_iter=1000).fit(X, labels).predict_proba(X)
    np.testing.assert_allclose(softmax(scorer.logits(X), axis=1), expected, rtol=1e-5)


def test_with_two_classes_both_can_have_a_high_logit():
    """One logit z becomes (-z/2, z/2): the highest is |z|/2, so what lies at the border stands out, on either side."""
    labels = (X[:, 0] > 0).astype(np.int64)
    logits = LinearScorer.fit(None, X, labels).logits(X)
    np.testing.assert_allclose(logits[:, 0], -logits[:, 1])
    assert logits[labels == 0, 0].mean() > 0.5 < logits[labels == 1, 1].mean()
