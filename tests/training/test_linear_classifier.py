"""Logistic regressions on fixed vectors: shared by folds, without a stage, on the device of the run."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from masker.inference.linear_backend import LinearBackend
from masker.training import linear_classifier, run_probes
from masker.training.probe import fit_probe
from tests.fake_device import fake_device

SPLIT = {"detection": {"calibration": "split"}}


def test_folds_of_a_linear_classifier_share_vectors_and_strength(start, monkeypatch):
    run = start("linear")
    chosen = []
    choose = run_probes.choose_strength
    monkeypatch.setattr(run_probes, "choose_strength", lambda *a, **k: chosen.append(choose(*a, **k)) or chosen[-1])
    for part in run.folds():
        backend = part.fit_linear("encoder")
        vectors = part.probes.vectors("encoder", pytest.fail)
        probe = fit_probe(vectors, part.data.train.labels, 3, strength=chosen[0])
        np.testing.assert_allclose(backend.predict_logits(part.data.train), probe(vectors), atol=1e-3)
    assert len(chosen) == 1


@pytest.mark.parametrize(("features", "width"), [("encoder", 32), ("tf-idf", None)])
def test_a_linear_classifier_needs_no_stage(start, stages, features, width):
    run = start("linear", **SPLIT)
    backend = run.fit_linear(features)
    assert isinstance(backend, LinearBackend) and stages == []
    expected = backend.predict_logits(run.data.train)
    np.testing.assert_allclose(run.train_outputs.logits, expected, atol=1e-5)
    predicted = backend.predict_logits(run.data.validation).argmax(axis=1)
    assert run.validation == {"accuracy": np.mean(predicted == run.data.validation.labels)}
    vectors = run.train_outputs.features["vectors"]
    assert vectors.shape == (len(run.data.train), width or len(run.tokenizer))


def test_the_encoder_runs_on_the_device_of_the_run(start, monkeypatch):
    asked = fake_device(monkeypatch)
    moved = []
    vectorize = linear_classifier.EncoderVectorizer

    def vectorizer(encoder, tokenizer, **options):
        moved.append(encoder.device)
        return vectorize(encoder, tokenizer, **options)

    monkeypatch.setattr(linear_classifier, "EncoderVectorizer", vectorizer)
    run = start("linear", device="cpu")
    run.device = torch.device("meta")
    with pytest.raises(RuntimeError, match="meta"):
        run.fit_linear("encoder")  # the encoder is there, and meta computes nothing
    assert moved == [torch.device("meta")]
    assert set(asked) == {"cpu"}
