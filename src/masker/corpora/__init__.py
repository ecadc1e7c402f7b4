"""Corpora that can be read by name."""

from masker.corpora.lookup import (
    CorpusInfo,
    corpus_path_or_none,
    fetch_corpus,
    find_corpus,
    how_to_get,
    import_corpus,
    list_corpora,
)
from masker.corpora.raw_texts import is_raw

__all__ = [
    "CorpusInfo", "corpus_path_or_none", "fetch_corpus", "find_corpus", "how_to_get", "import_corpus", "is_raw",
    "list_corpora",
]  # fmt: skip
