"""The evaluation report, from outputs made by hand."""

import json

import numpy as np
import pytest

from masker.errors import DataError
from masker.scoring.evaluation import evaluate_classification, evaluate_regression
from masker.scoring.max_probability import class_probabilities, max_probability_score

CLASSES = ["ham", "spam"]
# Scores (1-vs-rest): sigmoid(-3), sigmoid(-2), sigmoid(-1), sigmoid(0) = 0.05, 0.12, 0.27, 0.5; the last is wrong.
LOGITS = np.array([[3.0, -3.0], [-2.0, 2.0], [1.0, -1.0], [0.0, -2.0]], dtype=np.float32)
LABELS = ["ham", "spam", "ham", "spam"]
# Scores 0.88 and 0.12: one clearly out, one that looks like the second document.
OUT = np.array([[-2.0, -5.0], [2.0, -4.0]], dtype=np.float32)
DETECTION = {"auroc", "eer", "detection_accuracy", "tnr_at_tpr80", "aupr", "fpr_at_tpr95"}


def report(head="one-vs-rest", threshold=0.4, ood=None, **options):
    settings = {"resamples": 50, "seed": 0, **options}
    others = {"other": OUT} if ood is None else ood
    return evaluate_classification(
        class_probabilities(LOGITS, head),
        max_probability_score(LOGITS, head),
        settings.pop("labels", LABELS),
        CLASSES,
        threshold,
        {name: max_probability_score(logits, head) for name, logits in others.items()},
        **settings,
    )


def test_all_keys():
    content = report()
    assert set(content) == {"classification", "threshold", "rejected", "ood"}
    assert set(content["classification"]) == {"accuracy", "macro_f1", "ece"}
    assert set(content["ood"]) == {"other"}
    assert set(content["ood"]["other"]) == {"documents", "rejected", *DETECTION}
    for figures in (content["classification"], {name: content["ood"]["other"][name] for name in DETECTION}):
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


def test_same_documents_cannot_be_told_apart():
    assert report(ood={"same": LOGITS})["ood"]["same"]["auroc"]["value"] == pytest.approx(0.5)


def test_label_the_model_does_not_know():
    with pytest.raises(DataError, match="'eggs'"):
        report(labels=["eggs", *LABELS[1:]])


def test_regression_by_hand():
    """Predictions 1, 2, 3 for 1, 2, 5: errors 0, 0, 2, so the mean square is 4/3; the order agrees: Spearman 1.

    Pearson: deviations (-1, 0, 1) and (-5/3, -2/3, 7/3): 4 / sqrt(2 * (25 + 4 + 49) / 9) = 4 / sqrt(52/3).
    """
    content = evaluate_regression(np.array([[1.0], [2.0], [3.0]], dtype=np.float32), [1, 2, 5], resamples=20, seed=0)
    figures = content["regression"]
    assert json.loads(json.dumps(content)).keys() == {"regression"}
    values = {name: figure["value"] for name, figure in figures.items()}
    assert values == pytest.approx({"pearson": 4 / (52 / 3) ** 0.5, "spearman": 1.0, "mse": 4 / 3})
