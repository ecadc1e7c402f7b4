"""The linear classifier on fixed vectors, and the vectors; TF-IDF by hand."""

import math

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from masker.documents.encoding import Encoded
from masker.inference.linear_backend import LinearBackend, TfIdfVectorizer, token_counts

X = np.random.default_rng(0).normal(size=(60, 4))


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn(classes):
    labels = (X @ np.arange(8.0).reshape(4, 2)[:, :1]).argsort(axis=0)[:, 0] % classes
    backend = LinearBackend.fit(None, X, labels)
    expected = LogisticRegression(max_iter=1000).fit(X, labels).predict_proba(X)
    np.testing.assert_allclose(softmax(backend.outputs_of(X).logits, axis=1), expected, rtol=1e-5)


def test_with_two_classes_both_can_have_a_high_logit():
    """One logit z becomes (-z/2, z/2): the highest is |z|/2, so what lies at the border stands out, on either side."""
    labels = (X[:, 0] > 0).astype(np.int64)
    logits = LinearBackend.fit(None, X, labels).outputs_of(X).logits
    np.testing.assert_allclose(logits[:, 0], -logits[:, 1])
    assert logits[labels == 0, 0].mean() > 0.5 < logits[labels == 1, 1].mean()


def documents(*rows):
    return Encoded([np.array(ids, dtype=np.int64) for ids in rows], None, None, np.arange(len(rows)))


DOCUMENTS = documents([0, 2, 2, 3], [0, 2, 1], [0, 3, 3, 3])


def test_counts():
    assert token_counts(DOCUMENTS, 5).toarray().tolist() == [[1, 0, 2, 1, 0], [1, 1, 1, 0, 0], [1, 0, 0, 3, 0]]


def test_tf_idf_by_hand():
    """N = 3. Token 0 is in 3 documents: 1 + log(4/4) = 1; token 3 in 2: 1 + log(4/3); token 4 in none: 1 + log 4.

    The third document has token 0 once and token 3 three times: (1, (1 + log 3)(1 + log(4/3))), then length 1.
    """
    vectorizer = TfIdfVectorizer.fit(DOCUMENTS, 5, None)
    idf = vectorizer.weights().tensors["features.idf"]
    assert idf[[0, 3, 4]].tolist() == pytest.approx([1.0, 1 + math.log(4 / 3), 1 + math.log(4)])
    raw = np.array([1.0, (1 + math.log(3)) * (1 + math.log(4 / 3))])
    assert vectorizer(DOCUMENTS).toarray()[2, [0, 3]] == pytest.approx(raw / np.linalg.norm(raw))


def test_unseen_tokens_weigh_and_empty_rows_do_not_divide_by_zero():
    """A new document of token 4, which no training document has, is a vector of its own."""
    vectorizer = TfIdfVectorizer.fit(DOCUMENTS, 5, None)
    assert vectorizer(documents([4, 4], [])).toarray().tolist() == [[0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
