"""Scores of held-out documents as bars."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from masker import Model
from masker.service.held_out_scores import held_out_scores

FOLDER = Path(__file__).parents[1] / "fixtures" / "masker-bert"


@pytest.fixture(scope="module")
def detector():
    return Model.open(FOLDER, device="cpu").detector


def with_scores(detector, scores, threshold):
    calibration = replace(
        detector.calibration, scores=np.asarray(scores, dtype=float), thresholds=np.full(3, float(threshold))
    )
    return replace(detector, calibration=calibration)


def test_bars_count_the_documents(detector):
    """Rice's rule gives 2 * 64 ** (1/3) = 8 bins; the scores 0 to 63 are 8 in each up to the threshold 64."""
    found = held_out_scores(with_scores(detector, np.arange(64), 64))
    assert found.edges == [0, 8, 16, 24, 32, 40, 48, 56, 64] and found.counts == [8] * 8
    assert (found.documents, found.beyond, found.thresholds) == (64, 0, [64.0] * 3)


def test_a_few_far_scores_do_not_squeeze_the_others(detector):
    found = held_out_scores(with_scores(detector, [*np.linspace(0, 1, 199), 1000.0], 1.0))
    assert found.edges[-1] == 1.0 and found.beyond == 1 and sum(found.counts) == 199


@pytest.mark.parametrize("scores", [[2.0, 2.0], [np.inf, 1.0], []])
def test_odd_scores(detector, scores):
    found = held_out_scores(with_scores(detector, scores, np.inf))
    assert found.documents == len(scores) and found.thresholds == [None] * 3
    assert sum(found.counts) + found.beyond == len(scores)
    assert np.all(np.diff(found.edges) > 0)
    json.dumps(found.as_dict(), allow_nan=False)
