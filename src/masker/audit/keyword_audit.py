"""The audit from start to finish, its result, and the comparison of two audits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from masker.audit.audit_keywords import (
    ChosenKeywords,
    audit_schemes,
    check_scheme,
    choose_audit_keywords,
    given_keywords,
    given_words,
)
from masker.audit.audited_model import AuditedModel, as_audited, label_indices
from masker.audit.hiding import AnsweredDocuments, answer_documents
from masker.audit.measuring import (
    AuditedKeyword,
    Flip,
    Measured,
    ViewFigures,
    example_flips,
    keyword_effects,
    measure,
    share_view,
)
from masker.audit.occlusion import occlude
from masker.audit.reliance import Confidences, RelianceIntervals, reliance_difference, reliance_intervals
from masker.audit.words import Vocabulary, count_words
from masker.config import AuditSettings
from masker.documents import Documents, subsample
from masker.errors import DataError
from masker.keywords.rates import keyword_rates
from masker.progress import progress_bar
from masker.provenance import provenance


@dataclass(frozen=True)
class CurvePoint:
    """The model with a share of the keywords masked, and with as many random other words masked."""

    share: float
    keywords: ViewFigures
    random: ViewFigures


@dataclass(frozen=True)
class Audit:
    """How much a classifier relies on keywords.

    ``model``, ``data`` and ``other`` are names; ``documents`` and ``keyword_documents`` count what was measured and the
    other documents that the keywords were found in (0 for given keywords); views and figures are those of
    :mod:`masker.audit.measuring` and :mod:`masker.audit.reliance`.
    """

    model: str
    data: str
    other: str | None
    scheme: str  # how the keywords were chosen
    masking: str  # `mask`: words were replaced by the mask token; `drop`: they were left out
    max_length: int  # tokens read of a document
    documents: int
    keyword_documents: int
    with_keywords: float  # share of the measured documents that contain a keyword
    keyword_share: float  # share of the words in the measured documents that are keywords
    reliance: RelianceIntervals
    whole: ViewFigures
    curve: list[CurvePoint]  # more and more keywords masked
    bare_keywords: ViewFigures  # everything but the keywords masked
    bare_random: ViewFigures  # everything but as many random words masked
    empty: ViewFigures  # everything masked
    keywords: dict[str, list[AuditedKeyword]]  # by class, those that carry most first
    flips: dict[str, list[Flip]]  # by class of the keyword, documents whose answer depends on one word
    rates: dict[str, dict[str, float]]  # class of keywords -> class of texts -> percent of words that are such keywords
    fingerprint: str  # sha256 of the measured documents
    confidences: Confidences = field(repr=False)  # on each measured document, for paired comparisons
    provenance: dict[str, Any] = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready form, without the confidences of single documents."""
        plain = {part.name: getattr(self, part.name) for part in fields(self) if part.name != "confidences"}
        plain["reliance"] = self.reliance.to_json()
        return {name: _plain(value) for name, value in plain.items()}


@dataclass(frozen=True)
class AuditComparison:
    """Two audits on the same documents, and the reliance of the first minus that of the second."""

    audit: Audit
    against: Audit
    difference: RelianceIntervals

    def to_json(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name).to_json() for part in fields(self)}


def compare_audits(one: Audit, other: Audit, *, resamples: int = 1000, seed: int = 0) -> AuditComparison:
    """The paired difference of two audits.

    Raises:
        DataError: When they measured different documents.
    """
    if one.fingerprint != other.fingerprint:
        raise DataError(
            f"'{one.model}' and '{other.model}' were audited on different documents; audit both with the same data, "
            "seed, number of documents and either found or given keywords"
        )
    difference = reliance_difference(one.confidences, other.confidences, resamples=resamples, seed=seed)
    return AuditComparison(one, other, difference)


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
    device: str = "auto",
) -> Audit:
    """Measure how much a classifier relies on keywords.

    Args:
        classifier: Any transformers sequence classifier with two or more classes.
        tokenizer: Its fast tokenizer.
        documents: Labelled documents.
        settings: How keywords are chosen and measured.
        labels: Names of the model's outputs, in order; ``None`` takes those in its configuration.
        other: Another corpus to count the keywords in.
        max_length: Tokens read of a document; ``None`` means 256.
        name: What reports call the model.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps``.

    Raises:
        ModelError: When the model is not a classifier.
        DataError: When labels of the data match no output of the model, or there are too few documents.
        ConfigError: When the keywords cannot be chosen as asked.
    """
    model = as_audited(classifier, tokenizer, labels=labels, max_length=max_length, name=name, device=device)
    return audit_model(model, documents, settings=settings, other=other)


def audit_model(
    model: AuditedModel, documents: Documents, *, settings: AuditSettings | None = None, other: Documents | None = None
) -> Audit:
    """Audit an opened model; see :func:`audit`."""
    settings = settings or AuditSettings()
    if model.pairs is not None and model.pairs != (documents.pairs is not None):
        trained, given = ("text pairs", "single texts") if model.pairs else ("single texts", "text pairs")
        raise DataError(f"model '{model.name}' was trained on {trained}; {documents.name} has {given}")
    label_indices(documents, model.classes)  # checks every label, not only those in the sample
    vocabulary = Vocabulary()
    answered, chosen, keyword_documents = _choose(model, documents, vocabulary, settings)
    is_keyword = np.zeros(len(vocabulary), dtype=bool)
    is_keyword[chosen.words] = True
    with progress_bar(len(answered), f"audit {model.name}", "doc") as bar:
        measured = measure(model, answered, is_keyword, vocabulary.stop_words(), settings, bar.update)
    effects = occlude(model, answered, np.tile(is_keyword, (len(model.classes), 1)))
    counts = count_words([documents] if other is None else [documents, other], vocabulary)
    by_class = {name: chosen.of_class(place) for place, name in enumerate(model.classes)}
    return Audit(
        model=model.name,
        data=documents.name,
        other=None if other is None else other.name,
        scheme=settings.keywords,
        masking=settings.masking,
        max_length=model.max_length,
        documents=len(answered),
        keyword_documents=keyword_documents,
        **_figures(measured, settings),
        keywords=keyword_effects(chosen, model.classes, effects, vocabulary, counts),
        flips=example_flips(answered, effects, chosen, model.classes, vocabulary, settings.examples_per_class),
        rates=keyword_rates(counts.counts, counts.names, by_class),
        fingerprint=answered.documents.fingerprint(),
        provenance=provenance(seed=settings.seed, data_sha256=documents.fingerprint(), settings=settings.model_dump()),
    )


def _choose(
    model: AuditedModel, documents: Documents, vocabulary: Vocabulary, settings: AuditSettings
) -> tuple[AnsweredDocuments, ChosenKeywords, int]:
    """The documents to measure with their answers, the keywords, and how many documents these were found in.

    Keywords are found in one half of the sample and measured on the other: words chosen for their effect on some
    documents look stronger on these than they are. Given keywords are measured on the whole sample.
    """
    if settings.keywords not in audit_schemes():
        words = given_words(settings.keywords, model.tokenizer)
        sample = subsample(documents, settings.documents, settings.seed)
        answered = answer_documents(model, sample, vocabulary, settings.masking)
        return answered, given_keywords(words, answered, vocabulary), 0
    check_scheme(model, settings.keywords)
    sample = subsample(documents, settings.documents, settings.seed)
    if len(sample) < 2:
        raise DataError(f"{sample.name}: an audit needs at least 2 documents, half of them to find keywords in; got 1")
    order = np.random.default_rng(settings.seed).permutation(len(sample))
    half = len(sample) // 2
    finding, measuring = (sample.take(sorted(part.tolist())) for part in (order[:half], order[half:]))
    answered = answer_documents(model, measuring, vocabulary, settings.masking)
    seen = answer_documents(model, finding, vocabulary, settings.masking)
    return answered, choose_audit_keywords(model, seen, vocabulary, settings), len(finding)


def _figures(measured: Measured, settings: AuditSettings) -> dict[str, Any]:
    """The fields of an :class:`Audit` that sum up its measurements."""
    confidences = measured.confidences()
    return {
        "with_keywords": float(np.mean(measured.keyword_count > 0)),
        "keyword_share": float(measured.keyword_count.sum() / max(1, measured.word_count.sum())),
        "reliance": reliance_intervals(confidences, resamples=settings.resamples, seed=settings.seed),
        "whole": measured.figures("whole"),
        "curve": [
            CurvePoint(share, *(measured.figures(share_view(kind, share)) for kind in ("keywords", "random")))
            for share in measured.shares
        ],
        "bare_keywords": measured.figures("bare keywords"),
        "bare_random": measured.figures("bare random"),
        "empty": measured.figures("empty"),
        "confidences": confidences,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value
