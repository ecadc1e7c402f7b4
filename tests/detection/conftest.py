"""The plug-in scores, registered for one test; and training runs to calibrate."""

import pytest

from masker import Documents
from masker.detection.score import register_score
from masker.registry import SCORES
from masker.training.run import TrainingRun
from tests.conftest import make_corpus
from tests.detection import plug_in

CLASSES = ["food", "space", "sport"]
TEXTS, LABELS = make_corpus(30)
SCORE = {"score": "max-prob"}


@pytest.fixture
def plug_in_scores(monkeypatch):
    monkeypatch.setattr(SCORES, "_entries", dict(SCORES.items()))
    for score in (plug_in.EuclideanScore, plug_in.EuclideanMiddleScore, plug_in.MarginScore):
        register_score(score)
    return ("euclidean", "euclidean-middle", "margin")


@pytest.fixture
def start(tiny_settings, tmp_path):
    """Starts a training run of one epoch."""

    def make(texts=TEXTS, labels=LABELS, classes=CLASSES, method="vanilla", **sections):
        settings = tiny_settings(training={"method": method, "epochs": 1}, **{"detection": SCORE, **sections})
        return TrainingRun(Documents(texts, None, labels, "made up"), classes, settings, tmp_path / "work", "cpu")

    return make
