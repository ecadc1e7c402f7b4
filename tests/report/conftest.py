"""Fixtures that reports share with what they report on."""

from tests.audit.conftest import bag_of_words, topic_documents
from tests.experiments.conftest import corpora, data_folder, summary_of, tiny_recipe

__all__ = ["bag_of_words", "corpora", "data_folder", "summary_of", "tiny_recipe", "topic_documents"]
