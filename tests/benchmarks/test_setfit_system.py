from __future__ import annotations

import ast
from pathlib import Path

import numpy as np

from benchmarks import setfit_system
from benchmarks.setfit_system import auroc, evaluated, neighbour_distance
from masker import metrics


def test_it_stands_alone():
    tree = ast.parse(Path(setfit_system.__file__).read_text(encoding="utf-8"))
    imported = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import)
                for alias in node.names}  # fmt: skip
    imported |= {(node.module or ".").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "torch" in imported
    assert not imported & {"masker", "benchmarks", ""}


def test_auroc_is_that_of_masker():
    draw = np.random.default_rng(0)
    known, foreign = draw.normal(size=50).round(1), draw.normal(1, size=30).round(1)  # rounded, for ties
    assert np.isclose(auroc(known, foreign), metrics.auroc(known, foreign))


def test_neighbour_distance_ignores_length():
    distance = neighbour_distance(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([[5.0, 0.0], [0.0, -1.0]]))
    np.testing.assert_allclose(distance, [0.0, 1 - 0.5**0.5], atol=1e-12)


class FakeModel:
    """Texts are numbers: "3" is embedded as (3, 1), and its class is "high" if it exceeds 0."""

    classes_ = ("high", "low")

    @property
    def model_head(self):
        return self

    def encode(self, texts, show_progress_bar):
        return np.array([[float(text), 1.0] for text in texts])

    def predict_proba(self, embeddings):
        high = 1 / (1 + np.exp(-embeddings[:, 0]))
        return np.stack([high, 1 - high], axis=1)


def test_figures_of_a_trained_model():
    task = {
        "train": {"texts": ["-4", "4"]},
        "test": {"texts": ["3", "-3", "5", "2"], "labels": ["high", "low", "low", "high"]},
        "ood": {"between": ["0", "0.5", "-1"], "beyond": ["40"]},
    }
    figures = evaluated(FakeModel(), task)
    assert figures["accuracy"] == 0.75
    assert figures["auroc"]["between"] == {"highest probability": 1.0, "nearest neighbour": 1.0}
    assert figures["auroc"]["beyond"]["highest probability"] == 0.0
