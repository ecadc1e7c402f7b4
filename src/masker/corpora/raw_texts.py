"""Is a corpus the raw text? Some sources have 20 Newsgroups without headers, or Reuters as lower-case words."""

from __future__ import annotations

import gzip
import json
import re
from itertools import islice

from masker.corpora.lookup import fetch_corpus

#: What a raw text of a corpus begins with; corpora that have one form only are not listed.
RAW_START = {"20newsgroups": re.compile(r"\s*[A-Z][A-Za-z-]*: "), "reuters": re.compile(r"[^A-Z]*[A-Z]")}
#: Texts that are looked at, and the share of them that must begin like that: a few posts have no headers.
_SAMPLE = 200
_SHARE = 0.9


def is_raw(corpus: str) -> bool:
    """Whether the training part of a corpus, as it is found now, is raw; True if it is known in one form only."""
    start = RAW_START.get(corpus)
    if start is None:
        return True
    with gzip.open(fetch_corpus(corpus), "rt", encoding="utf-8") as lines:
        texts = [str(json.loads(line)["text"]) for line in islice(lines, _SAMPLE)]
    return sum(start.match(text) is not None for text in texts) >= _SHARE * len(texts)
