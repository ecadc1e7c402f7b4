"""``masker audit``: open one model or two, read the data, audit, and compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from masker.audit import Audit, AuditComparison, AuditedModel, audit_model, compare_audits, open_audited_model
from masker.config import AuditSettings, DataSettings
from masker.documents import read_documents


@dataclass(frozen=True)
class AuditSources:
    """What to audit, and on which data.

    Attributes:
        model: Folder or hub id of the model.
        data: Labelled documents: a file, a corpus by name, or a hub data set.
        against: A second model to compare with the first.
        other: Another corpus to count the keywords in.
        labels: Names of the models' outputs, in order.
        max_length: Tokens read of a document.
        device: Where the models run.
    """

    model: str
    data: str
    against: str | None = None
    other: str | None = None
    labels: Sequence[str] | None = None
    max_length: int | None = None
    device: str = "auto"


def audit_sources(
    sources: AuditSources, settings: AuditSettings, data_settings: DataSettings
) -> Audit | AuditComparison:
    """Audit one model, or two on the same documents.

    Args:
        sources: Models and data.
        settings: How keywords are chosen and measured.
        data_settings: How the data is read; ``where`` does not apply to ``sources.other``.
    """
    models = [
        open_audited_model(name, labels=sources.labels, max_length=sources.max_length, device=sources.device)
        for name in (sources.model, sources.against)
        if name is not None
    ]
    documents = read_documents(sources.data, data_settings, require_labels=True)
    other = None
    if sources.other is not None:
        other = read_documents(sources.other, data_settings.model_copy(update={"where": None}), require_labels=False)
    audits = [audit_model(model, documents, settings=settings, other=other) for model in _named_apart(models)]
    if sources.against is None:
        return audits[0]
    return compare_audits(*audits, resamples=settings.resamples, seed=settings.seed)


def _named_apart(models: list[AuditedModel]) -> list[AuditedModel]:
    """Number the models if they share a name."""
    if len({model.name for model in models}) == len(models):
        return models
    return [replace(model, name=f"{model.name} ({place})") for place, model in enumerate(models, start=1)]
