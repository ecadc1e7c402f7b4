"""From texts to groups, with a real model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from masker import DataError, Model
from masker.discovery import Discovery, DiscoverySettings, discover_groups
from masker.discovery.discovering import distinct_texts, store_texts
from masker.discovery.text_groups import discovery_sentence
from masker.discovery.text_store import TextStore
from tests.conftest import make_corpus

FOLDER = Path(__file__).parent.parent / "fixtures" / "exported-bert"


@pytest.fixture(scope="module")
def model():
    return Model.open(FOLDER)


def test_all_texts_are_read_and_described(model):
    texts = make_corpus(90, seed=5)[0]
    with TextStore() as store:
        assert store_texts(model, [texts[:40], texts[40:]], store, only_rejected=False) == 90
        found = discover_groups(model, store, DiscoverySettings(only_rejected=False, examples=2))
    assert len(found.labels) == 90 and found.sample == list(range(90))
    assert sum(group.texts for group in found.groups) == (found.labels >= 0).sum()
    for place, group in enumerate(found.groups):
        inside = {texts[row] for row in np.flatnonzero(found.labels == place)}
        assert {*group.middle, *group.edge} <= inside and len(group.middle) <= 2
        assert group.nearest in model.labels and group.is_new == (group.novelty > 1)
        assert -1 <= group.cohesion <= 1


def test_what_is_not_in_the_sample_goes_to_the_nearest_group(model):
    texts = make_corpus(120, seed=6)[0]
    with TextStore() as store:
        store_texts(model, [texts], store, only_rejected=False)
        found = discover_groups(model, store, DiscoverySettings(sample=60))
    assert len(found.sample) == 60 and len(found.labels) == 120
    rest = np.setdiff1d(np.arange(120), found.sample)
    assert (found.labels[rest] >= 0).mean() > 0.5


def test_only_rejected_texts_count(model):
    texts = make_corpus(60, seed=7)[0] + ["zzz qqq xxx"] * 3
    rejected = int(model.judge(texts).rejected.sum())
    with TextStore() as store:
        assert store_texts(model, [texts], store) == 63
        assert len(store) == rejected


def test_nothing_to_group(model):
    with TextStore() as store, pytest.raises(DataError, match="rejects none"):
        discover_groups(model, store, DiscoverySettings())


def test_the_sentence():
    assert discovery_sentence(Discovery("m", "d", 1000, 20, 18, 20, True, [])) == (
        "20 rejected texts of 1,000: 0 groups; 2 belong to none."
    )


def test_equal_texts_by_hand():
    records = [{"text": text} for text in ("Hi", "bye", "hi ", "HI", "bye now")]
    first, copies = distinct_texts(records)
    assert first == [0, 1, 4] and copies.tolist() == [0, 1, 0, 0, 2]
    pairs = [{"text": "a", "text_pair": "b"}, {"text": "a", "text_pair": "c"}, {"text": "A", "text_pair": "b"}]
    assert distinct_texts(pairs)[1].tolist() == [0, 1, 0]


def test_copies_share_a_group_and_count(model):
    """Three texts come 100 times each: each has one place, and the group of one of them has the others' size."""
    texts = make_corpus(60, seed=8)[0]
    often = texts[:3]
    with TextStore() as store:
        store_texts(model, [texts, often * 100], store, only_rejected=False)
        found = discover_groups(model, store, DiscoverySettings())
    for place in range(3):
        assert len(set(found.labels[[place, *range(60 + place, 360, 3)]].tolist())) == 1
    assert sum(group.texts for group in found.groups) == (found.labels >= 0).sum()
    sizes = [group.texts for group in found.groups]
    assert sizes == sorted(sizes, reverse=True)
    for group in found.groups:
        assert len(set(group.middle)) == len(group.middle)
