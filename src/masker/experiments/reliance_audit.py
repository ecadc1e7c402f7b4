"""Audits of trained models for comparison: how much each relies on keywords."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from masker.audit import Audit, AuditedModel, audit_model
from masker.config import AuditSettings
from masker.documents import Documents
from masker.experiments.recipe_parts import RelianceOptions

#: Words listed for each class.
_WORDS = 5


def audit_reliance(
    model: AuditedModel, training_keywords: Path, documents: Documents, options: RelianceOptions
) -> list[dict[str, Any]]:
    """Audit one model with several kinds of keywords.

    The kinds ``training`` and ``frequency`` do not depend on the model, so all models of a seed are audited on the same
    words in the same documents. With ``occlusion`` and ``attention`` each model is audited on its own words. The result
    has, for each kind and masking, the reliance with its parts, the figures behind it, and the most important words.
    """
    found = []
    same = options.model_dump(include={"documents", "per_class", "seed"})
    for kind, masking in product(options.keywords, options.masking):
        keywords = str(training_keywords) if kind == "training" else kind
        settings = AuditSettings(keywords=keywords, masking=masking, **same)
        figures = _figures(audit_model(model, documents, settings=settings))
        found.append({"keywords": kind, "masking": masking, **figures})
    return found


def _figures(audit: Audit) -> dict[str, Any]:
    views = {
        "whole": audit.whole,
        "keywords_masked": audit.curve[-1].keywords,
        "random_masked": audit.curve[-1].random,
        "bare_keywords": audit.bare_keywords,
        "bare_random": audit.bare_random,
        "empty": audit.empty,
    }
    reliance = audit.reliance.to_json()
    return {
        **{part: {end: round(value, 4) for end, value in ends.items()} for part, ends in reliance.items()},
        "measured_documents": audit.documents,
        "with_keywords": round(audit.with_keywords, 4),
        "keyword_share": round(audit.keyword_share, 4),
        "confidence": {name: round(view.confidence, 4) for name, view in views.items()},
        "accuracy": {name: round(view.accuracy, 4) for name, view in views.items()},
        "words": {label: [row.word for row in rows[:_WORDS]] for label, rows in audit.keywords.items()},
    }
