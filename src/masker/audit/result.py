"""What an audit found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from masker.audit.reliance import Confidences, RelianceIntervals, reliance_difference
from masker.errors import DataError


@dataclass(frozen=True)
class Figures:
    """Share of right answers, and mean probability of the class that the model gives to the whole document."""

    accuracy: float
    confidence: float


@dataclass(frozen=True)
class CurvePoint:
    """The model with a share of its keywords masked, and with as many random other words masked."""

    share: float
    keywords: Figures
    random: Figures


@dataclass(frozen=True)
class AuditedKeyword:
    """One keyword as the measured documents show it.

    Attributes:
        word: The word.
        score: What the scheme that found it gave it.
        documents: Measured documents that have it.
        drop: Mean loss of confidence in these when it alone is masked.
        flips: In how many of these the answer changes then.
        carried: Its part of the sum of all keywords' losses.
        per_million: Its occurrences in a million words of the audited data.
        per_million_other: Likewise of the other corpus, if one was given.
    """

    word: str
    score: float
    documents: int
    drop: float
    flips: int
    carried: float
    per_million: float
    per_million_other: float | None


@dataclass(frozen=True)
class Flip:
    """A document whose answer changes when one word is masked; its text is cut around that word."""

    before: str
    spelled: str
    after: str
    word: str
    label: str
    answer: str
    confidence: float
    answer_without: str
    confidence_without: float


@dataclass(frozen=True)
class Audit:
    """How much a classifier leans on keywords.

    Attributes:
        model: Name of the model.
        data: Name of the audited data.
        other: Name of the other corpus, if one was given.
        scheme: How the keywords were found.
        masking: Whether masked words were replaced by the mask token or left out.
        max_length: Tokens of a document that the model read.
        documents: How many were measured.
        keyword_documents: How many other documents the keywords were found in; 0 for given keywords.
        with_keywords: Share of the measured documents that have a keyword.
        keyword_share: Share of the words of the measured documents that are keywords.
        reliance: With its parts and intervals; see :mod:`masker.audit.reliance`.
        whole: The model on whole documents.
        curve: As more and more keywords are masked.
        bare_keywords: With all but the keywords masked.
        bare_random: With all but equally many random words masked.
        empty: With everything masked.
        keywords: By class, those that carry most first.
        flips: Examples by the class of the keyword.
        rates: Class of the keywords -> class of the texts -> percent of the words there.
        fingerprint: Of the measured documents.
        confidences: Of each measured document; for comparing audits, no part of the JSON.
        provenance: Versions, seed.
    """

    model: str
    data: str
    other: str | None
    scheme: str
    masking: str
    max_length: int
    documents: int
    keyword_documents: int
    with_keywords: float
    keyword_share: float
    reliance: RelianceIntervals
    whole: Figures
    curve: list[CurvePoint]
    bare_keywords: Figures
    bare_random: Figures
    empty: Figures
    keywords: dict[str, list[AuditedKeyword]]
    flips: dict[str, list[Flip]]
    rates: dict[str, dict[str, float]]
    fingerprint: str
    confidences: Confidences = field(repr=False)
    provenance: dict[str, Any] = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready form."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain["reliance"] = self.reliance.to_json()
        del plain["confidences"]
        return {name: _plain(value) for name, value in plain.items()}


@dataclass(frozen=True)
class Comparison:
    """Two audits on the same documents, and the reliance of the first minus that of the second."""

    audit: Audit
    against: Audit
    difference: RelianceIntervals

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return {
            "audit": self.audit.to_json(),
            "against": self.against.to_json(),
            "difference": self.difference.to_json(),
        }


def compare(one: Audit, other: Audit, *, resamples: int = 1000, seed: int = 0) -> Comparison:
    """The paired difference of two audits.

    Raises:
        DataError: When they measured different documents.
    """
    if one.fingerprint != other.fingerprint:
        raise DataError(f"'{one.model}' and '{other.model}' were audited on different documents; use the same data, "
                        "seed, number of documents and kind of keywords for both")  # fmt: skip
    difference = reliance_difference(one.confidences, other.confidences, resamples=resamples, seed=seed)
    return Comparison(one, other, difference)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value
