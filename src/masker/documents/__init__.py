"""Documents: from files, corpora by name and data sets, checked, and split reproducibly."""

from masker.corpora.lookup import (
    CorpusInfo,
    corpus_path_or_none,
    fetch_corpus,
    find_corpus,
    import_corpus,
    list_corpora,
)
from masker.documents.collection import Documents, Row, check_classes, collect_documents
from masker.documents.splits import (
    DetectionSplit,
    detection_split,
    in_distribution_classes,
    subsample,
    validation_split,
)
from masker.documents.tables import read_documents, stream_rows

__all__ = [
    "CorpusInfo",
    "DetectionSplit",
    "Documents",
    "Row",
    "check_classes",
    "collect_documents",
    "corpus_path_or_none",
    "detection_split",
    "fetch_corpus",
    "find_corpus",
    "import_corpus",
    "in_distribution_classes",
    "list_corpora",
    "read_documents",
    "stream_rows",
    "subsample",
    "validation_split",
]
