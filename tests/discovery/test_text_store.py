"""Texts on disk."""

from __future__ import annotations

import numpy as np
import pytest

from masker.discovery import text_store
from masker.discovery.text_store import TextStore


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setattr(text_store, "CHUNK", 4)
    with TextStore() as store:
        for start in (0, 3, 10):
            numbers = range(start, {0: 3, 3: 10, 10: 11}[start])
            store.add(
                np.array([[n, -n] for n in numbers], dtype=np.float32), [{"text": f"text {n} é"} for n in numbers]
            )
        yield store


def test_everything_comes_back_in_order(store):
    chunks = list(store.chunks())
    assert [len(chunk.records) for chunk in chunks] == [4, 4, 3] and len(store) == 11
    assert [record["text"] for chunk in chunks for record in chunk.records] == [f"text {n} é" for n in range(11)]
    assert np.concatenate([chunk.vectors for chunk in chunks])[:, 0].tolist() == list(range(11))


def test_some_of_them(store):
    chosen = store.take([9, 0, 5])
    assert chosen.vectors.tolist() == [[9, -9], [0, 0], [5, -5]]
    assert [record["text"] for record in chosen.records] == ["text 9 é", "text 0 é", "text 5 é"]


def test_a_sample(store):
    sample, numbers = store.sample(5, seed=0)
    assert len(set(numbers)) == 5 and numbers == sorted(numbers)
    assert sample.vectors[:, 0].tolist() == numbers
    assert store.sample(100, seed=0)[1] == list(range(11))


def test_the_folder_is_gone_afterwards():
    with TextStore() as store:
        folder = store._folder.name
    from pathlib import Path

    assert not Path(folder).exists()
