"""The audit from start to end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from masker.audit.answers import ask, occlude
from masker.audit.choice import SCHEMES, find_keywords, given_keywords, given_words
from masker.audit.counts import count_words
from masker.audit.findings import audited_keywords, flips
from masker.audit.labels import label_indices, output_names
from masker.audit.measure import Measured, measure, share_view
from masker.audit.model import AuditedModel, as_audited
from masker.audit.reliance import reliance_intervals
from masker.audit.result import Audit, CurvePoint, Figures
from masker.audit.words import Ids, Vocabulary
from masker.config import AuditSettings
from masker.documents import Documents, subsample
from masker.errors import DataError
from masker.keywords.rates import keyword_rates
from masker.progress import progress_bar
from masker.provenance import provenance


def audit(
    classifier: Any,
    tokenizer: Any,
    documents: Documents,
    *,
    settings: AuditSettings | None = None,
    labels: Sequence[str] | None = None,
    other: Documents | None = None,
    max_length: int | None = None,
    name: str = "model",
) -> Audit:
    """Measure how much a classifier leans on keywords.

    Args:
        classifier: Any sequence classifier of transformers with two or more classes.
        tokenizer: Its fast tokenizer.
        documents: Labelled documents.
        settings: How keywords are found and measured.
        labels: Names for the outputs of the model, in their order; ``None`` takes those in its configuration.
        other: Another corpus in which the keywords are counted.
        max_length: Tokens of a document that are read.
        name: What to call the model.

    Raises:
        ModelError: When the model is no classifier.
        DataError: When labels of the data mean no output of the model, or there are too few documents.
        ConfigError: When the keywords cannot be found as wished.
    """
    return audit_model(
        as_audited(classifier, tokenizer, max_length=max_length, name=name),
        documents,
        settings=settings,
        labels=labels,
        other=other,
    )


def audit_model(
    model: AuditedModel,
    documents: Documents,
    *,
    settings: AuditSettings | None = None,
    labels: Sequence[str] | None = None,
    other: Documents | None = None,
) -> Audit:
    """The same for an opened model."""
    settings = settings or AuditSettings()
    classes = output_names(model.classifier.config, labels)
    if model.pairs is not None and model.pairs != (documents.pairs is not None):
        expected = "pairs of texts (columns text and text_pair)" if model.pairs else "single texts"
        raise DataError(f"model '{model.name}' was trained on {expected}; {documents.name} is of the other kind")
    label_indices(documents, classes)  # all labels are checked, not only those of the documents drawn
    given = [] if settings.keywords in SCHEMES else given_words(settings.keywords, model.tokenizer)
    finding, measuring = _halves(subsample(documents, settings.documents, settings.seed), settings)
    vocabulary = Vocabulary()
    answered = ask(model, measuring, classes, vocabulary, settings)
    if finding is None:
        chosen = given_keywords(given, answered, vocabulary)
    else:
        chosen = find_keywords(model, ask(model, finding, classes, vocabulary, settings), vocabulary, settings)
    is_keyword = np.zeros(len(vocabulary), dtype=bool)
    is_keyword[chosen.words] = True
    with progress_bar(len(answered), f"audit {model.name}", "doc") as bar:
        measured = measure(model, answered, is_keyword, vocabulary.stop_words(), settings, bar.update)
    effects = occlude(model, answered, np.tile(is_keyword, (len(classes), 1)))
    word_counts = count_words([documents] if other is None else [documents, other], vocabulary)
    return Audit(
        model=model.name,
        data=documents.name,
        other=None if other is None else other.name,
        scheme=settings.keywords,
        masking=settings.masking,
        max_length=model.max_length,
        documents=len(answered),
        keyword_documents=0 if finding is None else len(finding),
        with_keywords=float(np.mean(measured.keyword_count > 0)),
        keyword_share=float(measured.keyword_count.sum() / max(1, measured.word_count.sum())),
        reliance=reliance_intervals(measured.confidences(), resamples=settings.resamples, seed=settings.seed),
        whole=_figures(measured, "whole", answered.gold),
        curve=[
            CurvePoint(
                share,
                _figures(measured, share_view("keywords", share), answered.gold),
                _figures(measured, share_view("random", share), answered.gold),
            )
            for share in measured.shares
        ],
        bare_keywords=_figures(measured, "bare keywords", answered.gold),
        bare_random=_figures(measured, "bare random", answered.gold),
        empty=_figures(measured, "empty", answered.gold),
        keywords=audited_keywords(chosen, classes, effects, vocabulary, word_counts),
        flips=flips(answered, effects, chosen, classes, vocabulary, settings.examples_per_class),
        rates=keyword_rates(
            word_counts.counts,
            word_counts.names,
            {label: chosen.of_class(place) for place, label in enumerate(classes)},
        ),
        fingerprint=measuring.fingerprint(),
        confidences=measured.confidences(),
        provenance=provenance(seed=settings.seed, data_sha256=documents.fingerprint(), settings=settings.model_dump()),
    )


def _halves(sample: Documents, settings: AuditSettings) -> tuple[Documents | None, Documents]:
    """The documents in which keywords are found, and others on which they are measured.

    Words that were chosen for what they do to some documents look stronger on these than they are.
    """
    if settings.keywords not in SCHEMES:
        return None, sample
    if len(sample) < 2:
        raise DataError(f"{sample.name}: an audit needs at least 2 documents, half of them for finding keywords; got 1")
    order = np.random.default_rng(settings.seed).permutation(len(sample))
    half = len(sample) // 2
    return sample.take(sorted(order[:half].tolist())), sample.take(sorted(order[half:].tolist()))


def _figures(measured: Measured, view: str, gold: Ids) -> Figures:
    column = measured.column(view)
    return Figures(
        float(np.mean(measured.predicted[:, column] == gold)), float(np.mean(measured.confidence[:, column]))
    )
