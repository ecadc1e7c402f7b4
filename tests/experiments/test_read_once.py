"""Judging with another head what was read once."""

from __future__ import annotations

import numpy as np

from masker import Documents, Model
from masker.experiments.read_once import ReadOnce
from masker.extension import extend_model
from tests.conftest import make_corpus


def test_an_extended_model_judges_as_if_it_had_read_the_texts_itself(tiny_settings, tmp_path, monkeypatch):
    texts, labels = make_corpus(60)
    model = Model.fit(Documents(texts, None, labels, "train"), tiny_settings(), tmp_path)
    made = extend_model(model, *make_corpus(16, seed=3, topics={"music": ["guitar", "violin", "drum", "choir"]}))
    unread = make_corpus(12, seed=5)[0]
    expected = [one.judge(unread) for one in (model, made.model)]
    reader = ReadOnce(model)
    found = [reader.judge(unread)]
    monkeypatch.setattr(Model, "outputs", None)  # whoever reads again fails
    found.append(reader.extended(made.model).judge(unread))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours.predicted, theirs.predicted)
        np.testing.assert_allclose(ours.probabilities, theirs.probabilities, atol=1e-4)
        np.testing.assert_allclose(ours.scores, theirs.scores, rtol=1e-4, atol=1e-4)
