"""Batches of the model that is served."""

from __future__ import annotations

from masker.service.answering import Classified, Scorer, ServedModel, top_classes
from masker.service.service_metrics import ServiceMetrics
from tests.service.conftest import TEXTS


class Monitor:
    def __init__(self):
        self.seen = []

    def observe(self, scores, labels):
        self.seen.append((list(scores), list(labels)))

    def state(self):
        return {"batches": len(self.seen)}


def test_a_batch_is_judged_counted_and_watched(model):
    metrics, served = ServiceMetrics(), ServedModel(model, Monitor())
    answers = Scorer(metrics)(served, TEXTS)
    assert [one.prediction for one in answers] == model.predict(TEXTS)
    assert served.monitor.seen == [
        ([one.prediction.ood_score for one in answers], [one.prediction.label for one in answers])
    ]
    assert served.drift() == {"batches": 1}
    tokens = sum(map(len, model.encode(TEXTS).input_ids))
    assert f"masker_batch_tokens_sum {float(tokens)}" in metrics.render().decode()


def test_the_best_classes_come_first(model):
    (answer,) = Scorer(ServiceMetrics())(ServedModel(model), TEXTS[:1])
    best = top_classes(model, answer, 3)
    assert [one["confidence"] for one in best] == sorted(answer.probabilities, reverse=True)
    assert best[0]["label"] == answer.prediction.label
    assert top_classes(model, Classified(answer.prediction, None), 3) == []


def test_a_model_that_cuts_texts_reads_no_more_than_its_length(model):
    assert ServedModel(model).longest == model.max_length
    assert ServedModel(model).drift() is None
