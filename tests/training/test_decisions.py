"""What a training decides, in words that match what it does."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

from masker import Documents
from masker.training.decisions import decisions_of
from masker.training.run import TrainingRun
from tests.conftest import make_corpus

CLASSES = ["food", "space", "sport"]


def decided(tiny_settings, count=60, family="bert", by_documents=False, **sections):
    texts, labels = make_corpus(count)
    settings = tiny_settings(family, **sections)
    if by_documents:
        settings = settings.model_copy(update={"training": settings.training.model_copy(update={"epochs": None})})
    with tempfile.TemporaryDirectory() as work:
        run = TrainingRun(Documents(texts, None, labels, "made up"), CLASSES, settings, Path(work), "cpu")
        return decisions_of(run)


def test_of_small_data(tiny_settings):
    """Five trainings on 48 of 60 documents: 16 batches of 32 are 10.7 passes."""
    found = decided(tiny_settings, by_documents=True, training={"batch_size": 32}, model={"pooling": "mean"})
    assert list(found) == ["documents", "pooling", "training", "keywords", "held out"]
    assert found["documents"].startswith("60 with ") and found["documents"].endswith("3 classes of 20 to 20")
    assert found["pooling"] == "mean (as set)"
    assert found["training"].startswith("head from a logistic regression; 32 steps of 32 documents, 21.3 passes")
    assert "(for each of the networks that are averaged)" in found["training"]
    assert found["training"].endswith("; not trained: embeddings"), "a third of two layers is none"
    assert found["keywords"] == "attention after 16 steps without regularizer"
    assert found["held out"] == "none: cross-fitted in 5 folds, every document trains and calibrates"


def test_of_more_documents(tiny_settings):
    """400 of 500 once in batches of 16, 25 steps a fold. Set aside: 450 three times each, 85 steps."""
    found = decided(tiny_settings, 500, by_documents=True, training={"batch_size": 16})
    assert "; 25 steps of 16 documents, 1 passes (for each of the networks that are averaged)" in found["training"]
    split = {"calibration": "split"}
    found = decided(tiny_settings, 500, by_documents=True, training={"batch_size": 16}, detection=split)
    assert "; 85 steps of 16 documents, 3.02 passes (each three times)" in found["training"]


def test_of_the_papers_training(tiny_settings):
    paper = {"head_start": "new", "averaged_share": 0.0, "embedding_lr_scale": 0.5, "epochs": 6}
    found = decided(tiny_settings, training=paper, detection={"calibration": "split"})
    assert found["pooling"] == "document-token (for a new head)"
    assert found["training"] == "new head; 6 epochs in batches of 8 (as set)"
    assert found["keywords"] == "attention after 3 epochs without regularizer"
    assert found["held out"] == "6 documents, which choose and calibrate"


def test_of_a_calibration_part(tiny_settings):
    found = decided(tiny_settings, 100, detection={"calibration": "split"}, data={"validation_fraction": 0.4})
    assert found["held out"] == "20 documents to choose the score, 20 others to calibrate the rejection"
    assert found["documents"].startswith("100 with ")


@pytest.mark.parametrize(("family", "named"), [("bert", True), ("albert", False)])
def test_layers_are_named_only_where_they_are_frozen(tiny_settings, family, named):
    """ALBERT's layers share their weights."""
    found = decided(tiny_settings, family=family, training={"frozen_layers": 1})
    assert ("not trained: 1 lowest layers and embeddings" in found["training"]) is named


def test_of_methods_without_a_network_or_keywords(tiny_settings):
    assert list(decided(tiny_settings, training={"method": "linear"})) == ["documents", "held out"]
    assert "keywords" not in decided(tiny_settings, training={"method": "vanilla"})
    assert decided(tiny_settings, keywords={"source": "frequency"})["keywords"] == "frequency"
    convolution = decided(tiny_settings, training={"method": "doc", "epochs": 1}, baselines={"doc_filters": 4})
    assert "pooling" not in convolution and convolution["training"].startswith("new head; 1 epochs")


def test_of_a_probe_that_was_kept(tiny_settings, tmp_path):
    texts, labels = make_corpus(60)
    run = TrainingRun(Documents(texts, None, labels, "made up"), CLASSES, tiny_settings(), tmp_path / "work", "cpu")
    assert "kept" not in decisions_of(run)
    labels = np.zeros(5, dtype=np.int64)
    right, wrong = np.tile([1.0, 0.0], (5, 1)), np.tile([0.0, 1.0], (5, 1))
    one_wrong = np.vstack([right[:4], wrong[:1]])
    assert not run.keep_probe_if_better(labels, right, right), "a tie"
    assert not run.keep_probe_if_better(labels, one_wrong, right), "one document is chance: 1 is not more than sqrt(1)"
    assert "kept" not in decisions_of(run)
    assert run.keep_probe_if_better(labels, wrong, right), "five lost are more than sqrt(5)"
    assert decisions_of(run)["kept"].startswith("the logistic regression: training lost more held-out documents")


def test_of_all_documents(tiny_settings):
    nothing = {"data": {"validation_fraction": 0.0}, "detection": {"calibration": "split", "score": "max-prob"}}
    found = decided(tiny_settings, **nothing)
    assert found["documents"].startswith("60 with ")
    assert found["held out"].startswith("none: all documents train, the last weights are kept")
