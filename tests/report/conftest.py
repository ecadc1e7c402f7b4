"""Models and documents of the audit's tests."""

from tests.audit.conftest import bag_of_words, topic_documents

__all__ = ["bag_of_words", "topic_documents"]
