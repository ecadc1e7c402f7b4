"""Documents: read from files, corpora and data sets, validated, and split reproducibly."""

from masker.documents.document_set import Documents, check_classes, check_form, settings_for
from masker.documents.rows import Row, collect_documents
from masker.documents.sources import read_documents, stream_rows
from masker.documents.splits import (
    detection_split,
    in_distribution_classes,
    subsample,
    subsample_classes,
    validation_split,
)

__all__ = [
    "Documents",
    "Row",
    "check_classes",
    "check_form",
    "collect_documents",
    "detection_split",
    "in_distribution_classes",
    "read_documents",
    "settings_for",
    "stream_rows",
    "subsample",
    "subsample_classes",
    "validation_split",
]
