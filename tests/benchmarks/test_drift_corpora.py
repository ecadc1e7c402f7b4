from __future__ import annotations

import numpy as np
import pytest

from benchmarks import drift_corpora
from benchmarks.drift_corpora import CORPORA, corpus_stream, measure_corpus


@pytest.fixture
def scores():
    draw = np.random.default_rng(0)
    sizes = {"calibration": 150, "quiet": 3600, "unseen classes": 900, "SST-2": 900}
    found = {name: draw.standard_normal(size) + 6 * (name in ("SST-2",)) for name, size in sizes.items()}
    found |= {f"{name} labels": draw.integers(0, 2, size) for name, size in sizes.items()}
    return {**found, "classes": np.array(2), "auroc": np.array([0.5, 1.0])}


def test_foreign_texts_take_the_place_of_known_ones(scores):
    quiet = corpus_stream(scores, None, 0.0, 3)
    mixed = corpus_stream(scores, "SST-2", 0.2, 3)
    differs = quiet.scores != mixed.scores
    assert not differs[:1000].any() and abs(differs[1000:].mean() - 0.2) < 0.03
    assert set(mixed.scores[differs]) <= set(scores["SST-2"]) and len(set(mixed.scores)) == len(mixed.scores)


def test_figures_of_a_corpus(scores, monkeypatch):
    monkeypatch.setattr(drift_corpora, "corpus_scores", lambda corpus, seed: scores)
    monkeypatch.setattr(drift_corpora, "STREAMS", 1)
    monkeypatch.setattr(drift_corpora, "TEXTS", 1500)
    found = measure_corpus(CORPORA[0], (0.2,))
    assert found["quiet"] == {"streams": 2, "texts": 1500, "alarms": 0}
    assert found["delays"]["SST-2"]["0.2"]["found"] == 1.0
    assert found["auroc"] == {"unseen classes": [0.5] * 2, "SST-2": [1.0] * 2} and found["calibration"] == [150] * 2
