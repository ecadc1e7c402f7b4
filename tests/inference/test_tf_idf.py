"""TF-IDF, by hand and against scikit-learn."""

import math

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer

from masker.inference.tf_idf import inverse_document_frequency, tf_idf, token_counts

DOCUMENTS = [np.array(ids) for ids in ([0, 2, 2, 3], [0, 2, 1], [0, 3, 3, 3])]


def test_counts():
    assert token_counts(DOCUMENTS, 5).toarray().tolist() == [[1, 0, 2, 1, 0], [1, 1, 1, 0, 0], [1, 0, 0, 3, 0]]


def test_by_hand():
    """N = 3. Token 0 is in 3 documents: 1 + log(4/4) = 1; token 3 in 2: 1 + log(4/3); token 4 in none: 1 + log 4.

    The third document has token 0 once and token 3 three times: (1, (1 + log 3)(1 + log(4/3))), then length 1.
    """
    counts = token_counts(DOCUMENTS, 5)
    idf = inverse_document_frequency(counts)
    assert idf[[0, 3, 4]] == pytest.approx([1.0, 1 + math.log(4 / 3), 1 + math.log(4)])
    raw = np.array([1.0, (1 + math.log(3)) * (1 + math.log(4 / 3))])
    assert tf_idf(counts, idf).toarray()[2, [0, 3]] == pytest.approx(raw / np.linalg.norm(raw))


def test_equals_scikit_learn():
    counts = token_counts(DOCUMENTS, 5)
    expected = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    np.testing.assert_allclose(tf_idf(counts, inverse_document_frequency(counts)).toarray(), expected.toarray())


def test_unseen_tokens_weigh_and_empty_rows_do_not_divide_by_zero():
    """A new document of token 4, which no training document has, is a vector of its own."""
    idf = inverse_document_frequency(token_counts(DOCUMENTS, 5))
    vectors = tf_idf(token_counts([np.array([4, 4]), np.array([], dtype=np.int64)], 5), idf).toarray()
    assert vectors.tolist() == [[0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
    assert tf_idf(token_counts([], 5), idf).shape == (0, 5)
