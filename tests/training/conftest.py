"""A run on a made-up corpus, and the stages that it would train."""

from __future__ import annotations

import pytest

from masker import Documents
from masker.modeling.network import MaskerNetwork
from masker.training import run
from masker.training.run import TrainingRun
from tests.conftest import make_corpus


@pytest.fixture(scope="module")
def documents() -> Documents:
    texts, labels = make_corpus(42)
    return Documents(texts, None, labels, "made up")


@pytest.fixture
def start(documents, tiny_settings, tmp_path):
    def make(method="masker", device="cpu", **sections):
        training = {"method": method, "epochs": 1, **sections.pop("training", {})}
        settings = tiny_settings(training=training, **sections)
        return TrainingRun(documents, ["food", "space", "sport"], settings, tmp_path / "work", device)

    return make


@pytest.fixture
def stages(monkeypatch):
    """Every stage that would be trained, with its data; the classifier is handed back untrained."""
    seen = []

    def train(stage, classifier, tokenizer, data, settings, folder, device):
        seen.append((stage, data, folder, device))
        targets = 0 if stage.keywords is None else len(stage.keywords.target_ids)
        return MaskerNetwork(classifier, targets).eval(), {"accuracy": len(seen) / 10}

    monkeypatch.setattr(run, "train_stage", train)
    return seen
