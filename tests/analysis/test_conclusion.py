"""The sentences that follow from figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from masker.analysis.conclusion import conclude, share
from masker.analysis.report_data import ClassFigures, Confusion, DetectionCurve, KnownDocuments, ModelFacts
from masker.metrics import binomial_interval
from tests.report.made_report import interval

FACTS = ModelFacts("m", "masker", "b", ["a", "b"], False, 64, "d", 100, "", "auto", 1.0, 0.05, None, 1.0)


def known(right=180, count=200, **changes) -> KnownDocuments:
    classes = [
        ClassFigures(name, count // 2, binomial_interval(right // 2, count // 2).as_dict(), interval(0.02))
        for name in ("a", "b")
    ]
    confusion = Confusion(["a", "b"], ["a", "b", "rejected"], [[0, 0, 95], [0, 1, 2], [1, 1, 98], [1, 2, 5]])
    made = KnownDocuments(
        "test", False, True, count, binomial_interval(right, count).as_dict(), 0.5, classes, confusion, []
    )
    return replace(made, **changes)


def evaluation(ece=0.02, alarms=(0.05, 0.03, 0.07), ood=None) -> dict:
    realised = dict(zip(("value", "low", "high"), alarms, strict=True))
    return {
        "classification": {"ece": interval(ece, 0.01)},
        "false_alarms": {"realised": realised, "rate_interval": [0.03, 0.075], "held_out": 150},
        "ood": ood or {},
    }


def text(facts=FACTS, figures=None, documents=None, curves=None) -> str:
    return " ".join(conclude(facts, figures or evaluation(), documents or known(), curves))


def foreign(auroc: float, rejected=0.6, documents=500) -> dict:
    return {"reviews": {"documents": documents, "rejected": rejected, "auroc": interval(auroc, 0.01)}}


def test_accuracy_comes_with_its_interval():
    assert "Of 200 texts of test, the model puts 90.0 % (95 % interval 85.0 to 93.8 %) into the right class." in text()
    assert "learnt anything" not in text()
    assert "does not show that it has learnt anything" in text(documents=known(right=110))


def test_training_texts_are_no_test():
    assert "trained on" not in text()
    assert text(documents=known(trained_on=True)).startswith("These are the very texts it was trained on")


def test_held_out_documents_are_called_so():
    found = text(documents=known(held_out=True))
    assert "Of 200 held-out documents, each judged by a network that was not trained on it" in found
    assert "It is set to reject at most 5 % of texts that belong to a class on average." in found
    assert "expect slightly less" in text(documents=known(held_out=True, separate=False))


@pytest.mark.parametrize(("right", "named"), [(1, True), (7, False)])
def test_a_class_is_singled_out_if_chance_does_not_explain_it(right, named):
    """At an accuracy of 90 %, 1 of 8 right is no accident among three classes; 7 of 8 is."""
    small = ClassFigures("odd", 8, binomial_interval(right, 8).as_dict(), interval(0.0))
    documents = known()
    found = text(documents=replace(documents, classes=[*documents.classes, small]))
    assert (f"Clearly weaker than the rest: “odd” ({right} of 8 right)." in found) == named


def test_many_weak_classes_are_not_all_listed():
    weak = [ClassFigures(f"c{n}", 20, binomial_interval(n, 20).as_dict(), interval(0.0)) for n in range(5)]
    found = text(documents=replace(known(), classes=weak))
    assert "“c0” (0 of 20 right), “c1” (1 of 20 right) and “c2” (2 of 20 right), and 2 more" in found


def test_mix_ups_are_named_if_they_are_frequent():
    assert "mix-up" not in text()
    confusion = Confusion(["a", "b", "foreign"], ["a", "b", "rejected"], [[0, 1, 4], [1, 2, 9], [2, 0, 50], [0, 0, 90]])
    assert "“a” taken for “b” (4 times)" in text(documents=known(confusion=confusion))


@pytest.mark.parametrize(
    ("error", "words"),
    [(0.015, "can be taken at its word"), (0.05, "is a fair guide"), (0.085, "is not clear"), (0.2, "Do not take")],
)
def test_confidence(error, words):
    assert words in text(figures=evaluation(ece=error))


def test_false_alarms_that_fit_and_that_do_not():
    assert "at most 5 % was promised on average, which fits" in text()
    assert "That is more" in text(figures=evaluation(alarms=(0.12, 0.08, 0.17)))
    lucky = evaluation(alarms=(0.08, 0.06, 0.1))
    assert "With 150 held-out documents a single model's rate may lie between 3.0 and 7.5 %" in text(figures=lucky)
    assert "That is more" in text(replace(FACTS, confidence=0.95), lucky), "then this very model keeps the promise"
    assert "with 95 % confidence" in text(replace(FACTS, confidence=0.95))
    assert "by a published rule" in text(replace(FACTS, promised=None))


@pytest.mark.parametrize(
    ("auroc", "words"),
    [(0.98, "very well"), (0.9, " well"), (0.8, "fairly"), (0.65, " weakly"), (0.58, "very weakly"), (0.5, "chance")],
)
def test_foreign_text(auroc, words):
    found = text(figures=evaluation(ood=foreign(auroc)))
    assert "Of 500 foreign texts of reviews it rejects 60 %" in found and words in found


def test_nothing_foreign_was_given():
    assert "give examples with --ood" in text()


def test_more_false_alarms_are_proposed_where_they_buy_much():
    curve = DetectionCurve([0.0, 0.04, 0.1, 1.0], [0.0, 0.2, 0.7, 1.0], (0.04, 0.2))
    found = text(figures=evaluation(ood=foreign(0.9, 0.2)), curves={"reviews": curve})
    assert "With 10 % false alarms it would reject 70 %" in found
    for little in (replace(curve, true_positives=[0.0, 0.2, 0.25, 1.0]), replace(curve, point=(0.2, 0.2))):
        assert "would reject" not in text(figures=evaluation(ood=foreign(0.9, 0.2)), curves={"reviews": little})


def test_few_texts_are_a_first_impression():
    assert "first impression" not in text(figures=evaluation(ood=foreign(0.9)))
    assert "With only 40 texts" in text(documents=known(right=36, count=40))
    assert "With only 30 texts" in text(figures=evaluation(ood=foreign(0.9, documents=30)))


def test_a_regression_and_a_model_that_nobody_measured():
    figures = {"regression": {"pearson": interval(0.8)}, "documents": 50}
    found = " ".join(conclude(FACTS, figures))
    assert "correlate with 0.80" in found and "first impression" in found
    assert "--test FILE" in conclude(FACTS, None)[0]


def test_shares():
    assert share({"value": 0.5, "low": 0.25, "high": 0.755}) == "50.0 % (95 % interval 25.0 to 75.5 %)"
