"""An audit from names: a model, perhaps a second one, and data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from masker.audit.conduct import audit_model
from masker.audit.model import AuditedModel, open_model
from masker.audit.result import Audit, Comparison, compare
from masker.config import AuditSettings, DataSettings
from masker.documents import read_documents


def run_audit(
    source: str,
    data: str,
    settings: AuditSettings,
    data_settings: DataSettings,
    *,
    against: str | None = None,
    other: str | None = None,
    labels: Sequence[str] | None = None,
    max_length: int | None = None,
) -> Audit | Comparison:
    """Open one model or two and audit them on the same documents.

    Args:
        source: Folder or hub id of the model.
        data: Labelled documents: a file, a corpus by name, a data set of the hub.
        settings: How keywords are found and measured.
        data_settings: How ``data`` is read; its choice of rows is not applied to ``other``.
        against: A second model, to be compared with the first.
        other: Another corpus in which the keywords are counted.
        labels: Names of the models' outputs in their order.
        max_length: Tokens of a document that are read.
    """
    models = [open_model(name, max_length) for name in (source, against) if name is not None]
    documents = read_documents(data, data_settings, require_labels=True)
    elsewhere = None
    if other is not None:
        elsewhere = read_documents(other, data_settings.model_copy(update={"where": None}), require_labels=False)
    audits = [
        audit_model(model, documents, settings=settings, labels=labels, other=elsewhere)
        for model in _told_apart(models)
    ]
    if against is None:
        return audits[0]
    return compare(*audits, resamples=settings.resamples, seed=settings.seed)


def _told_apart(models: list[AuditedModel]) -> list[AuditedModel]:
    """Two models of one name get numbers."""
    if len({model.name for model in models}) == len(models):
        return models
    return [replace(model, name=f"{model.name} ({place})") for place, model in enumerate(models, start=1)]
