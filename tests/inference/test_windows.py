"""Windows of long documents, pooled."""

import numpy as np
import pytest

from masker.documents.encoding import Encoded
from masker.inference import windows
from masker.inference.outputs import Outputs
from masker.inference.windows import (
    document_labels,
    document_outputs,
    pool_outputs,
    pool_windows,
    single_labels,
    stream_outputs,
)


def test_pool_windows_by_hand():
    """Document 0 has windows (1, 4) and (3, 0): mean (2, 2), max (3, 4). Document 1 has one window, out of order."""
    logits = np.array([[1.0, 4.0], [-5.0, -6.0], [3.0, 0.0]], dtype=np.float32)
    document = np.array([0, 1, 0])
    np.testing.assert_array_equal(pool_windows(logits, document, 2, "mean"), [[2.0, 2.0], [-5.0, -6.0]])
    np.testing.assert_array_equal(pool_windows(logits, document, 2, "max"), [[3.0, 4.0], [-5.0, -6.0]])


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_pooling_single_windows_changes_nothing(pooling):
    logits = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    pooled = pool_windows(logits, np.arange(4), 4, pooling)
    np.testing.assert_array_equal(pooled, logits)
    assert pooled.dtype == np.float32


def test_features_of_windows_are_averaged():
    """Windows 0 and 1 belong to document 0, window 2 to document 1."""
    features = {"cls": np.array([[1.0, 0.0], [3.0, 4.0], [5.0, 5.0]], dtype=np.float32)}
    pooled = pool_outputs(Outputs(np.eye(3, dtype=np.float32), features), np.array([0, 0, 1]), "max")
    assert pooled.features["cls"].tolist() == [[2.0, 2.0], [5.0, 5.0]]
    assert pooled.logits.tolist() == [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


class Lengths:
    """A backend whose logits and features are the lengths of the rows."""

    n_outputs = 1

    def predict_logits(self, encoded, advance=None):
        return encoded.lengths[:, None].astype(np.float32)

    def predict_outputs(self, encoded, kinds=("cls",), advance=None):
        return Outputs(self.predict_logits(encoded), {kind: self.predict_logits(encoded) for kind in kinds})


ROWS = Encoded([np.ones(n, np.int64) for n in (2, 4, 3, 1)], None, np.array([1, 1, 0, 2]), np.array([0, 0, 1, 2]))


def test_one_output_and_the_tokens_of_all_windows_for_each_document():
    outputs = document_outputs(Lengths(), ROWS, "mean", kinds=("cls",))
    assert outputs.logits[:, 0].tolist() == outputs.features["cls"][:, 0].tolist() == [3.0, 3.0, 1.0]
    assert outputs.lengths.tolist() == [6, 3, 1]
    assert document_labels(ROWS).tolist() == [1, 0, 2]


def test_a_stream_gives_the_same_in_parts(monkeypatch):
    monkeypatch.setattr(windows, "STREAM_DOCUMENTS", 2)
    parts = list(stream_outputs(Lengths(), ROWS, "mean", kinds=("cls",)))
    assert [part.logits[:, 0].tolist() for part in parts] == [[3.0, 3.0], [1.0]]
    assert [part.lengths.tolist() for part in parts] == [[6, 3], [1]]
    assert list(stream_outputs(Lengths(), ROWS.take([]), "mean")) == []


def test_one_label_of_several():
    """Label 0 is on three documents, label 1 on two: {0, 1} is 1, {0} is 0, and a document without labels is 2."""
    flags = np.array([[1, 1], [1, 0], [0, 0], [1, 1]])
    assert single_labels(flags).tolist() == [1, 0, 2, 1]
    assert single_labels(np.array([[1], [1]])).tolist() == [0, 0]
    classes = np.array([2, 0])
    assert single_labels(classes) is classes


def test_labels_of_windows_are_those_of_their_document():
    rows = [np.array([1])] * 3
    flags = np.array([[1, 0], [1, 0], [1, 1]], dtype=np.int8)
    assert document_labels(Encoded(rows, None, flags, np.array([0, 0, 1]))).tolist() == [[1, 0], [1, 1]]
