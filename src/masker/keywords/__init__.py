"""Keyword selection: by frequency (Eq. 1), by attention (Eq. 2), at random, or the user's own words."""

from masker.keywords.keyword_set import Keyword, KeywordSet

__all__ = ["Keyword", "KeywordSet"]
