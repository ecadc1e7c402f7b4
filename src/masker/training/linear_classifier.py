"""Logistic regressions on fixed vectors of the documents: a classifier that needs no training stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masker.documents.encoding import Encoded
from masker.inference.linear_backend import EncoderVectorizer, LinearBackend, TfIdfVectorizer, Vectorizer
from masker.inference.windows import document_labels, document_outputs, pool_outputs
from masker.modeling.backbone import resolve_backbone
from masker.modeling.pooling import DOCUMENT_TOKEN, declared_pooling
from masker.progress import progress_bar
from masker.training.validation_metric import validation_metric

if TYPE_CHECKING:
    from masker.training.run import TrainingRun


def fit_linear_classifier(run: TrainingRun, features: str) -> LinearBackend:
    """Fit one on ``encoder`` vectors (frozen hidden states) or ``tf-idf``; sets the run's outputs and metric."""
    train, validation = run.data.train, run.data.validation
    vectorizer = _vectorizer(run, features)

    def compute(encoded: Encoded) -> Any:
        with progress_bar(len(encoded), "features", "doc") as bar:
            return vectorizer(encoded, bar.update)

    vectors = run.probes.vectors(features, compute)
    backend = LinearBackend(vectorizer, *run.probes.fit(features))
    pooling = run.settings.model.window_pooling
    run.train_outputs = pool_outputs(backend.outputs_of(vectors), train.document, pooling)
    if len(validation):
        logits = document_outputs(backend, validation, pooling).logits
        run.validation = validation_metric(document_labels(validation), logits, run.settings.model.head)
    return backend


def _vectorizer(run: TrainingRun, features: str) -> Vectorizer:
    """Made once for all folds: TF-IDF counts words, not labels."""

    def make() -> Vectorizer:
        classifier = run.classifier_with_new_head()
        if features == "encoder":
            first = declared_pooling(resolve_backbone(run.settings.model.backbone)) == DOCUMENT_TOKEN
            return EncoderVectorizer(classifier.base_model.to(run.device), run.tokenizer, first=first)
        return TfIdfVectorizer.fit(run.probes.documents, len(run.tokenizer), classifier.config)

    vectorizer: Vectorizer = run.probes.once(f"{features} vectorizer", make)
    return vectorizer
