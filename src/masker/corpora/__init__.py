"""Corpora that can be read by name."""

from masker.corpora.lookup import (
    CorpusInfo,
    corpus_path_or_none,
    fetch_corpus,
    find_corpus,
    import_corpus,
    list_corpora,
)

__all__ = ["CorpusInfo", "corpus_path_or_none", "fetch_corpus", "find_corpus", "import_corpus", "list_corpora"]
