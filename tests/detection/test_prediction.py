"""The answer for one text, as JSON."""

import numpy as np

from masker.detection.detector import Judgement
from masker.detection.prediction import Prediction, predictions_of


def test_reject_hides_the_label_of_an_out_of_distribution_text():
    inside, outside = Prediction("food", 0.9, 0.5, 0.1, False), Prediction("food", 0.9, 0.01, 3.0, True)
    assert outside.as_dict()["label"] == "food" and outside.as_dict(reject=True)["label"] is None
    assert inside.as_dict(reject=True) == inside.as_dict() == {
        "label": "food", "confidence": 0.9, "p_value": 0.5, "ood_score": 0.1, "is_ood": False,
    }  # fmt: skip


def test_several_labels():
    """Most probable first; "none" is not the same as out-of-distribution."""
    judged = Judgement(
        np.array([[0.6, 0.9, 0.1], [0.2, 0.1, 0.3]]),
        np.array([1, 2]),
        np.array([0.9, 0.3]),
        np.array([0.5, 2.0]),
        np.array([0.7, 0.2]),
        np.array([False, True]),
        np.array([[True, True, False], [False, False, False]]),
    )
    both, none = predictions_of(judged, ["a", "b", "c"])
    assert both.as_dict() == {
        "labels": ["b", "a"], "confidence": [0.9, 0.6], "none": False,
        "p_value": 0.7, "ood_score": 0.5, "is_ood": False,
    }  # fmt: skip
    assert none.as_dict()["labels"] == [] and none.as_dict()["none"]
    assert none.label == "c"
    assert none.as_dict(reject=True)["labels"] is None and both.as_dict(reject=True)["labels"] == ["b", "a"]
