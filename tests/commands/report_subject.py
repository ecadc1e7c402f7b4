"""A tiny model that keeps everything a report can show, and documents to report on."""

from __future__ import annotations

from masker import Documents
from tests.conftest import make_corpus

MUSIC = {"music": ["guitar", "piano", "song", "drum", "violin"]}


def documents(count: int, seed: int, name: str) -> Documents:
    texts, labels = make_corpus(count, seed=seed)
    return Documents(texts, None, labels, name)


def foreign(count: int = 24) -> Documents:
    return Documents(make_corpus(count, seed=5, topics=MUSIC)[0], None, None, "music.jsonl")
