"""Agreement between backends, counted by hand."""

from __future__ import annotations

import pytest

from masker import Documents, Prediction
from masker.detection.prediction import LabelSetPrediction
from masker.export import CheckData
from masker.export.agreement import compare_backends


class Fixed:
    """A classifier with given answers, one list per set of texts."""

    def __init__(self, *answers, is_regression=False):
        self.answers = iter(answers)
        self.is_regression = is_regression

    def predict(self, texts, advance=None):
        if advance is not None:
            advance(len(texts))
        return next(self.answers)


def rows(*values):
    return [Prediction(label, certain, 0.5, score, out) for label, certain, score, out in values]


def numbers(*values):
    return [Prediction(value, None, None, None, None) for value in values]


def test_agreement_by_hand():
    """The other backend differs in one label of four, two decisions of six, and confidence by up to 0.4.

    AUROC of its scores: 0.15 beats one of the four test scores, 0.6 all of them: 5 / 8.
    """
    test = rows(("a", 0.9, 0.1, False), ("b", 0.8, 0.2, False), ("a", 0.7, 0.3, False), ("b", 0.6, 0.4, True))
    out = rows(("a", 0.5, 0.5, True), ("a", 0.4, 0.6, True))
    test2 = rows(("a", 0.9, 0.1, False), ("a", 0.8, 0.2, False), ("a", 0.7, 0.3, True), ("b", 0.6, 0.4, True))
    out2 = rows(("b", 0.9, 0.15, False), ("a", 0.4, 0.6, True))
    data = CheckData(
        Documents(list("wxyz"), None, list("abab"), "test"), {"other": Documents(list("uv"), None, None, "o")}
    )
    report = compare_backends(Fixed(test, out), {"onnx": Fixed(test2, out2)}, data)
    assert len(data) == 6
    assert report["documents"] == {"test": 4, "other": 2}
    assert report["backends"]["torch"] == {"accuracy": 1.0, "auroc": {"other": 1.0}}
    figures = report["backends"]["onnx"]
    assert figures["accuracy"] == 0.75
    assert figures["label_agreement"] == 0.75
    assert figures["is_ood_agreement"] == pytest.approx(4 / 6)
    assert figures["max_confidence_difference"] == pytest.approx(0.4)
    assert figures["auroc"]["other"] == pytest.approx(5 / 8)


def test_regressions_compare_numbers():
    """Truth 1 2 4; answers 1 2 3 and 1 2.5 3. Squared errors 1/3 and (0.25 + 1) / 3; the answers differ by 0.5."""
    data = CheckData(Documents(list("xyz"), None, [1.0, 2.0, 4.0], "scores"))
    original = Fixed(numbers(1.0, 2.0, 3.0), is_regression=True)
    report = compare_backends(original, {"onnx": Fixed(numbers(1.0, 2.5, 3.0))}, data)
    assert report["documents"] == {"scores": 3}
    assert set(report["backends"]["torch"]) == {"pearson", "mse"}
    assert report["backends"]["torch"]["mse"] == pytest.approx(1 / 3)
    assert report["backends"]["onnx"]["mse"] == pytest.approx(1.25 / 3)
    assert report["backends"]["onnx"]["max_difference"] == 0.5


def test_every_backend_reports_its_progress():
    """Three backends, four test texts and two others: 18 texts."""
    test, out = rows(*[("a", 0.9, 0.1, False)] * 4), rows(*[("a", 0.4, 0.6, True)] * 2)
    data = CheckData(
        Documents(list("wxyz"), None, ["a"] * 4, "test"), {"other": Documents(list("uv"), None, None, "o")}
    )
    seen: list[int] = []
    backends = {name: Fixed(test, out) for name in ("onnx", "onnx-int8")}
    report = compare_backends(Fixed(test, out), backends, data, seen.append)
    assert list(report["backends"]) == ["torch", "onnx", "onnx-int8"]
    assert seen == [4, 2] * 3


def test_several_labels_by_hand():
    """Labels in another order are the same labels. {a, b}, {} and {a} given {a, b}, {} and {b}: 2 * 2 / (3 + 3)."""

    def sets(*values):
        return [LabelSetPrediction("a", 0.9, 0.5, 0.1, False, labels, (0.9,) * len(labels)) for labels in values]

    data = CheckData(Documents(list("xyz"), None, [["a", "b"], [], ["a"]], "test"))
    report = compare_backends(
        Fixed(sets(("a", "b"), (), ("b",))), {"onnx": Fixed(sets(("b", "a"), (), ("a", "b")))}, data
    )
    assert report["backends"]["torch"]["micro_f1"] == pytest.approx(2 / 3)
    assert report["backends"]["onnx"]["label_agreement"] == pytest.approx(2 / 3)
