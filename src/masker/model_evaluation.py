"""Evaluating a trained model: it judges the documents, and :mod:`masker.detection.evaluation` makes the figures."""

from __future__ import annotations

from typing import Any

from masker.detection.evaluation import (
    Resampling,
    evaluate_classification,
    evaluate_label_sets,
    evaluate_regression,
)
from masker.documents import Documents, check_form
from masker.documents.texts import texts_of
from masker.errors import ConfigError
from masker.inference.batching import Advance
from masker.provenance import provenance


def evaluate_model(
    model: Any, test: Documents, ood: dict[str, Documents], resampling: Resampling, advance: Advance | None = None
) -> dict[str, Any]:
    """The report of :meth:`masker.model.Model.evaluate`, whose module imports this one."""
    assert test.labels is not None
    if model.is_regression:
        if ood:
            raise ConfigError("a regression has no classes to be out of; evaluate it without --ood")
        logits = model.outputs(texts_of(test), advance).logits
        figures = evaluate_regression(logits, [float(str(label)) for label in test.labels], resampling)
    else:
        check_form(test, several=model.is_multi_label)
        foreign = {name: model.judge(texts_of(documents), advance) for name, documents in ood.items()}
        measure = evaluate_label_sets if model.is_multi_label else evaluate_classification
        labels: Any = test.labels if model.is_multi_label else [str(label) for label in test.labels]
        judged = model.judge(texts_of(test), advance)
        figures = measure(model.require_detector(), model.classes, judged, labels, foreign, resampling)
    return evaluation_report(model, test.name, len(test), figures, resampling, data_sha256=test.fingerprint())


def evaluation_report(
    model: Any, test: str, documents: int, figures: dict[str, Any], resampling: Resampling, **data: str
) -> dict[str, Any]:
    """Figures with what they were measured on and where the model comes from; ``data`` goes into the provenance."""
    origin = provenance(seed=resampling.seed, **data, trained=model.provenance)
    return {"test": test, "documents": documents, **figures, "provenance": origin}
