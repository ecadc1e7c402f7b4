"""The evaluation report, from outputs made by hand."""

import json

import numpy as np
import pytest

from masker.detection.calibration import Calibration
from masker.detection.detector import Detector, HeldOut
from masker.detection.evaluation import (
    Resampling,
    evaluate_classification,
    evaluate_label_sets,
    evaluate_regression,
)
from masker.detection.label_rule import LabelRule
from masker.detection.risk_control import TrueLabels
from masker.detection.scores.max_probability import MaxProbabilityScore
from masker.errors import DataError
from masker.inference.outputs import Outputs

CLASSES = ["ham", "spam"]
# Scores (1-vs-rest): sigmoid(-3), sigmoid(-2), sigmoid(-1), sigmoid(0) = 0.05, 0.12, 0.27, 0.5; the last is wrong.
LOGITS = np.array([[3.0, -3.0], [-2.0, 2.0], [1.0, -1.0], [0.0, -2.0]], dtype=np.float32)
LABELS = ["ham", "spam", "ham", "spam"]
# Scores 0.88 and 0.12: one clearly out, one that looks like the second document.
OUT = np.array([[-2.0, -5.0], [2.0, -4.0]], dtype=np.float32)
OPEN_SET = {"accuracy", "macro_f1", "f1_known", "f1_unknown"}
DETECTION = {"auroc", "eer", "detection_accuracy", "tnr_at_tpr80", "aupr", "fpr_at_tpr95"}


def report(
    head="one-vs-rest",
    threshold=0.4,
    ood=None,
    class_conditional=False,
    temperature=1.0,
    labels=LABELS,
    seed=0,
    confidence=None,
):
    others = {"other": OUT} if ood is None else ood
    scores, predicted = np.arange(1, 40) / 100, np.zeros(39, dtype=int)
    rule = Calibration.fit(scores, predicted, 2, 0.05, class_conditional=class_conditional, confidence=confidence)
    if threshold is not None:
        rule = rule.with_threshold(threshold)
    held_out = HeldOut({"max-prob": scores}, predicted, True)
    detector = Detector(MaxProbabilityScore(head), rule, temperature, held_out, head)
    return evaluate_classification(
        detector,
        CLASSES,
        detector.judge(Outputs(LOGITS)),
        labels,
        {name: detector.judge(Outputs(logits)) for name, logits in others.items()},
        Resampling(resamples=50, seed=seed),
    )


def test_all_keys():
    content = report()
    assert set(content) == {
        "score", "classification", "threshold", "rejected", "false_alarms", "confidence", "selective", "ood",
    }  # fmt: skip
    assert content["score"] == "max-prob"
    assert set(content["classification"]) == {"accuracy", "macro_f1", "ece"}
    assert set(content["ood"]) == {"other"}
    assert set(content["ood"]["other"]) == {"documents", "rejected", "open_set", *DETECTION}
    other = content["ood"]["other"]
    assert set(other["open_set"]) == OPEN_SET
    for figures in (content["classification"], {name: other[name] for name in DETECTION}, other["open_set"]):
        for figure in figures.values():
            assert set(figure) == {"value", "low", "high"}
            assert figure["low"] <= figure["high"]


@pytest.mark.parametrize("head", ["one-vs-rest", "multi-class"])
def test_report_is_json(head):
    content = report(head)
    assert json.loads(json.dumps(content, allow_nan=False)) == content


def test_figures_by_hand():
    """Three of four are right. Score above 0.4: one of four test documents, one of two others.

    AUROC: 0.88 beats all 4 test scores; 0.1192 beats 0.0474 and ties with 0.1192: 4 + 1 + 0.5 of 8 pairs = 0.6875.
    """
    content = report()
    assert content["classification"]["accuracy"]["value"] == pytest.approx(0.75)
    assert content["threshold"] == 0.4
    assert content["rejected"] == pytest.approx(0.25)
    other = content["ood"]["other"]
    assert other["documents"] == 2
    assert other["rejected"] == pytest.approx(0.5)
    assert other["auroc"]["value"] == pytest.approx(0.6875)


def test_open_set_by_hand():
    """Told: ham, spam, ham, rejected (it was spam); of the other two one rejected, one ham. Four of six are right.

    F1: ham 2 * 2 / (2 + 3) = 4/5, spam 2 * 1 / (2 + 1) = 2/3, the unknown 2 * 1 / (2 + 2) = 1/2.
    """
    figures = report()["ood"]["other"]["open_set"]
    assert {name: figure["value"] for name, figure in figures.items()} == pytest.approx(
        {"accuracy": 4 / 6, "macro_f1": 59 / 90, "f1_known": 11 / 15, "f1_unknown": 1 / 2}
    )


def test_false_alarms_by_hand():
    """One of four rejected; exact interval of Clopper and Pearson: 0.0063 to 0.8059. 39 held out guarantee 5 %."""
    content = report()["false_alarms"]
    assert content["realised"]["value"] == 0.25
    assert [content["realised"][end] for end in ("low", "high")] == pytest.approx([0.0063, 0.8059], abs=1e-4)
    assert (content["asked"], content["promised"], content["held_out"]) == (0.05, None, 39), "a threshold from outside"
    assert report(threshold=None)["false_alarms"]["promised"] == 0.05
    assert "by_predicted_class" not in content


def test_false_alarms_with_confidence_by_hand():
    """39 held-out documents: k = 38 on average, Beta(2, 38). With 80 % confidence k = 39, Beta(1, 39), as
    1 - 0.95^39 = 0.865; with 95 % they promise 1 - 0.05^(1/39) = 0.0739."""
    average = report(threshold=None)["false_alarms"]
    assert average["confidence"] is None and average["rate_interval"] == pytest.approx([0.0092, 0.1160], abs=1e-4)
    sure = report(threshold=None, confidence=0.8)["false_alarms"]
    assert (sure["confidence"], sure["promised"]) == (0.8, 0.05)
    assert sure["rate_interval"] == pytest.approx([1 - 0.95 ** (1 / 39), 1 - 0.05 ** (1 / 39)])
    assert report(threshold=None, confidence=0.95)["false_alarms"]["promised"] == pytest.approx(0.0739, abs=1e-4)
    assert report()["false_alarms"]["rate_interval"] is None, "a threshold from outside"


def test_false_alarms_by_class():
    """All held-out documents were predicted ham: k = 38, threshold 0.38. Spam gets that of all, which is the same."""
    by_class = report(threshold=None, class_conditional=True)["false_alarms"]["by_predicted_class"]
    assert {name: share["value"] for name, share in by_class.items()} == {"ham": pytest.approx(1 / 3), "spam": 0.0}


def test_selective_by_hand():
    """Only the least certain of four is wrong: risks 0, 0, 0, 1/4; their mean is 1/16."""
    content = report()["selective"]
    assert set(content) == {"confidence", "ood_score"}
    for figures in content.values():
        assert figures["aurc"]["value"] == pytest.approx(1 / 16)
        assert figures["curve"] == [[0.25, 0.0], [0.5, 0.0], [0.75, 0.0], [1.0, 0.25]]


def test_calibration_error_before_and_after_the_temperature():
    """Sigmoids of 3, 2, 1, 0 sit in different bins; three are right, the last is wrong at 0.5.

    Before: (0.0474 + 0.1192 + 0.2689 + 0.5) / 4 = 0.2339. Twice as hot: sigmoids of 1.5, 1, 0.5 and 0.
    """
    content = report(temperature=2.0)
    assert content["confidence"]["temperature"] == 2.0
    assert content["confidence"]["ece_before"] == pytest.approx(0.2339, abs=1e-4)
    hot = 1 / (1 + np.exp(-np.array([1.5, 1.0, 0.5])))
    assert content["confidence"]["ece_after"] == pytest.approx(((1 - hot).sum() + 0.5) / 4)
    assert content["classification"]["ece"]["value"] == pytest.approx(content["confidence"]["ece_after"])


def test_head_decides_the_score():
    """Softmax of (0, -2) is 0.88, score 0.12, below 0.4: with this head nothing is rejected."""
    assert report("multi-class")["rejected"] == 0.0


def test_document_at_the_threshold_is_kept():
    assert report(threshold=0.5)["rejected"] == 0.0


def test_same_seed_same_report():
    assert report(seed=3) == report(seed=3)


def test_no_other_corpora_and_several():
    assert report(ood={})["ood"] == {}
    assert list(report(ood={"b": OUT, "a": LOGITS})["ood"]) == ["b", "a"]


def test_the_same_documents_cannot_be_separated():
    assert report(ood={"same": LOGITS})["ood"]["same"]["auroc"]["value"] == pytest.approx(0.5)


def test_label_the_model_does_not_know():
    with pytest.raises(DataError, match="'eggs'"):
        report(labels=["eggs", *LABELS[1:]])


def test_regression_by_hand():
    """Predictions 1, 2, 3 for 1, 2, 5: errors 0, 0, 2, so the mean square is 4/3; the order agrees: Spearman 1.

    Pearson: deviations (-1, 0, 1) and (-5/3, -2/3, 7/3): 4 / sqrt(2 * (25 + 4 + 49) / 9) = 4 / sqrt(52/3).
    """
    content = evaluate_regression(np.array([[1.0], [2.0], [3.0]], dtype=np.float32), [1, 2, 5], Resampling(20, 0))
    figures = content["regression"]
    assert json.loads(json.dumps(content)).keys() == {"regression"}
    values = {name: figure["value"] for name, figure in figures.items()}
    assert values == pytest.approx({"pearson": 4 / (52 / 3) ** 0.5, "spearman": 1.0, "mse": 4 / 3})


def test_several_labels_by_hand():
    """Thresholds at logits 0 and -2, labels {ham}, {ham, spam}, none and {spam}; given {ham}, {spam}, both and both.

    True positives 1 + 2, true 2 + 2, given 3 + 3: micro F1 6 / 10. Missed shares 0, 1/2 and 0, their mean 1/6. At even
    odds, strictly above one half, the last document is given nothing.
    """
    scores, predicted = np.arange(1, 40) / 100, np.zeros(39, dtype=int)
    rule = Calibration.fit(scores, predicted, 2, 0.05, class_conditional=False)
    nothing = TrueLabels(np.empty(0), np.empty(0, dtype=int), np.empty(0, dtype=int))
    labels = LabelRule(nothing, 0.1, np.array([0.0, -2.0]), np.array([True, False]))
    detector = Detector(
        MaxProbabilityScore("multi-label"), rule, 2.0, HeldOut({"max-prob": scores}, predicted, True), "multi-label",
        label_rule=labels,
    )  # fmt: skip
    judged = detector.judge(Outputs(LOGITS))
    true = [["ham"], ["ham", "spam"], [], ["spam"]]
    found = evaluate_label_sets(
        detector, CLASSES, judged, true, {"other": detector.judge(Outputs(OUT))}, Resampling(5, 0)
    )
    assert found["label_sets"]["micro_f1"]["value"] == pytest.approx(0.6)
    assert found["label_sets"]["missed_share"]["value"] == pytest.approx(1 / 6)
    assert found["at_even_odds"]["missed_share"]["value"] == pytest.approx((1 / 2 + 1) / 3)
    assert found["missed"] == {"asked": 0.1, "promised": None, "held_out": 0}
    assert found["none"] == {"true": 0.25, "given": 0.0}
    ham, spam = found["by_label"]
    assert (ham["own_threshold"], spam["own_threshold"]) == (True, False)
    assert ham["threshold"] == 0.5 and spam["threshold"] == pytest.approx(1 / (1 + np.e))  # sigmoid(-2 / temperature 2)
    assert set(found["ood"]["other"]) == {"documents", "rejected", *DETECTION}
    json.dumps(found)
