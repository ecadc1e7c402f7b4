"""The plug-in scores, registered for one test."""

import pytest

from masker.detection.score import register_score
from masker.registry import SCORES
from tests.detection import plug_in


@pytest.fixture
def plug_in_scores(monkeypatch):
    monkeypatch.setattr(SCORES, "_entries", dict(SCORES.items()))
    for score in (plug_in.EuclideanScore, plug_in.EuclideanMiddleScore, plug_in.MarginScore):
        register_score(score)
    return ("euclidean", "euclidean-middle", "margin")
