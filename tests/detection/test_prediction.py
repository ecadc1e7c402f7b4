"""The answer for one text, as JSON."""

from masker.detection.prediction import Prediction


def test_reject_hides_the_label_of_an_out_of_distribution_text():
    inside, outside = Prediction("food", 0.9, 0.5, 0.1, False), Prediction("food", 0.9, 0.01, 3.0, True)
    assert outside.as_dict()["label"] == "food" and outside.as_dict(reject=True)["label"] is None
    assert inside.as_dict(reject=True) == inside.as_dict() == {
        "label": "food", "confidence": 0.9, "p_value": 0.5, "ood_score": 0.1, "is_ood": False,
    }  # fmt: skip
