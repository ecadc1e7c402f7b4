"""The distance of a graph from PyTorch, on random documents."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from masker.export.parity import TOLERANCE, Difference, Parity, random_batches
from masker.modeling.backbone import load_classifier, load_tokenizer
from tests.conftest import FAMILIES


def opened(folder):
    return load_classifier(str(folder), attn_implementation="eager").eval(), load_tokenizer(str(folder))


def test_random_batches_need_padding_and_reach_the_longest(trained):
    classifier, tokenizer = opened(trained("bert", "one-vs-rest", True).folder)
    batches = random_batches(tokenizer, classifier, 48)
    lengths = np.concatenate([batch.lengths for batch in batches])
    assert len(lengths) >= 32 and lengths.max() == 48 and lengths.min() == 3
    assert all(len(set(batch.lengths)) > 1 for batch in batches)
    ids = np.concatenate([row for batch in batches for row in batch.input_ids])
    assert tokenizer.pad_token_id not in ids and ids.max() < len(tokenizer)
    assert {int(kind) for batch in batches for row in batch.token_type_ids for kind in row} == {0, 1}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_faithful_graph_is_close(exported, family):
    folder = exported(family, "one-vs-rest", False).folder
    parity = Parity(*opened(folder), 48, ["cls", "middle"])
    exact, rounded = (parity.difference(folder / "onnx" / name) for name in ("model.onnx", "model.int8.onnx"))
    assert parity.is_close(exact)
    assert exact.logits < TOLERANCE < rounded.logits


def test_the_largest_difference_is_found(exported):
    """With 0.5 added to the bias of one class in PyTorch, its logits are 0.5 away and the features are not."""
    folder = exported().folder
    classifier, tokenizer = opened(folder)
    with torch.no_grad():
        classifier.classifier.bias[1] += 0.5
    difference = Parity(classifier, tokenizer, 48, ["cls"]).difference(folder / "onnx" / "model.onnx")
    assert difference.logits == pytest.approx(0.5, abs=1e-4)
    assert difference.features < 1e-4


def test_features_are_compared_relative_to_their_size(exported):
    """The tolerance of logits is absolute; that of features grows with the largest of them, here 3."""
    parity = Parity(*opened(exported().folder), 48, ["cls"])
    parity._features = np.array([[3.0, -1.0]], dtype=np.float32)
    assert parity.is_close(Difference(TOLERANCE, 2.9 * TOLERANCE))
    assert not parity.is_close(Difference(TOLERANCE, 3.1 * TOLERANCE))
    assert not parity.is_close(Difference(1.1 * TOLERANCE, 0.0))
    assert not parity.is_close(Difference(float("nan"), 0.0))
