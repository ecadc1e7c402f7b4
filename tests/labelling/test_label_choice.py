"""Which texts are chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from masker import DataError, Model
from masker.discovery import DiscoverySettings
from masker.discovery.discovering import store_texts
from masker.discovery.text_store import TextStore
from masker.labelling import choose_texts
from masker.labelling.label_choice import describe_judged, without_near_duplicates
from tests.conftest import make_corpus

FOLDER = Path(__file__).parent.parent / "fixtures" / "exported-bert"


@pytest.fixture(scope="module")
def model():
    return Model.open(FOLDER, false_alarm_rate=0.3)


def chosen_of(model, texts, budget):
    with TextStore() as store:
        store_texts(model, [texts], store, only_rejected=False, describe=describe_judged)
        return choose_texts(model, store, budget, DiscoverySettings())


def test_no_text_is_nearly_one_chosen_before():
    """Cosines: 1 between 0 and 1; 0 between 0 and 2; 0.6 between 2 and 3."""
    vectors = np.array([[1, 0], [1, 0], [0, 1], [0.8, 0.6]], dtype=np.float32)
    turns = [("threshold", 0), ("classes", 1), ("group", 2), ("threshold", 3)]
    assert without_near_duplicates(turns, vectors, 4) == [("threshold", 0), ("group", 2), ("threshold", 3)]
    assert without_near_duplicates(turns, vectors, 1) == [("threshold", 0)]


def test_a_mix_within_the_budget(model):
    texts = make_corpus(90, seed=5)[0]
    chosen = chosen_of(model, [*texts, *texts], 12)
    assert 3 <= len(chosen) <= 12 and len({one.text for one in chosen}) == len(chosen)
    rejected = dict(zip(texts, model.judge(texts).rejected.tolist(), strict=True))
    for one in chosen:
        assert one.is_ood == rejected[one.text]
        assert {"classes": False, "group": True}.get(one.reason, one.is_ood) == one.is_ood
        assert 0 <= one.confidence <= 1 and 0 < one.p_value <= 1
    judged = model.judge(texts)
    nearest = texts[int(np.abs(np.log(judged.p_values / 0.3)).argmin())]
    assert chosen[0].reason == "threshold" and chosen[0].text == nearest


def test_nothing_to_choose_from(model):
    with TextStore() as store, pytest.raises(DataError, match="no text to choose from"):
        choose_texts(model, store, 3, DiscoverySettings())
