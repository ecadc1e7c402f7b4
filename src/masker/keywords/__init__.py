"""Keyword selection: frequency (Eq. 1), attention (Eq. 2), random, or the user's own words."""

from masker.keywords.keyword_set import Keyword, KeywordSet

__all__ = ["Keyword", "KeywordSet"]
