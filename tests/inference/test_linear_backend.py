"""The linear classifier on fixed vectors, and the vectors; TF-IDF by hand."""

import math

import numpy as np
import pytest

from masker.documents.encoding import Encoded
from masker.inference.linear_backend import LinearBackend, TfIdfVectorizer, token_counts

X = np.random.default_rng(0).normal(size=(60, 4))


def test_logits_and_vectors():
    weight, bias = np.arange(8.0).reshape(2, 4), np.array([1.0, -1.0])
    backend = LinearBackend(None, weight, bias)
    outputs = backend.outputs_of(X)
    np.testing.assert_allclose(outputs.logits, X @ weight.T + bias, rtol=1e-5)
    assert outputs.features["vectors"] is X and backend.n_outputs == 2


def test_between_two_classifiers():
    one, other = (LinearBackend("vectorizer", np.full((2, 4), n), np.full(2, 10.0 * n)) for n in (1.0, 5.0))
    between = one.moved_towards(other, 0.25)
    np.testing.assert_array_equal(between._weight, np.full((2, 4), 2.0))
    np.testing.assert_array_equal(between._bias, [20.0, 20.0])
    np.testing.assert_array_equal(one._weight, np.ones((2, 4)), "neither is changed")
    assert between._vectorizer == "vectorizer"


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
