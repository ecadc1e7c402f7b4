"""The thresholds of a multi-label model, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest

from masker.detection.label_rule import LabelRule, true_labels_of
from masker.errors import ConfigError
from masker.metrics import missed_shares

#: Label 0 is frequent and easy; labels 1 and 2 are rare, and 2 is hard. The network underrates all of them.
SHARES, MEANS = np.array([0.7, 0.1, 0.05]), np.array([-1.0, -2.0, -4.0])


def draw_documents(count: int, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(N, C) logits and true labels; some documents have none."""
    true = (draw.random((count, 3)) < SHARES).astype(np.int8)
    return draw.normal(np.where(true, MEANS, -7.0), 1.0), true


def fit(logits: np.ndarray, true: np.ndarray, rate: float, *, class_conditional: bool = False) -> LabelRule:
    return LabelRule.fit(true_labels_of(logits, true), true.shape[1], rate, class_conditional=class_conditional)


def test_true_labels_are_those_that_documents_have():
    logits, true = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([[1, 1], [0, 0], [0, 1]])
    found = true_labels_of(logits, true)
    assert found.logits.tolist() == [1.0, 2.0, 6.0]
    assert found.labels.tolist() == [0, 1, 1]
    assert found.documents.tolist() == [0, 0, 2]


def test_all_labels_share_one_threshold():
    rule = fit(*draw_documents(200, np.random.default_rng(0)), 0.1)
    assert len(set(rule.thresholds)) == 1
    assert rule.promised == 0.1
    assert not rule.by_label.any()


def test_a_label_is_given_from_its_threshold_on():
    rule = LabelRule(true_labels_of(np.ones((1, 2)), np.ones((1, 2))), 0.1, np.array([0.0, 1.0]), np.zeros(2, bool))
    assert rule.gives(np.array([[0.0, 0.9], [-0.1, 1.0], [-1.0, -1.0]])).tolist() == [
        [True, False],
        [False, True],
        [False, False],
    ]


def test_no_threshold_is_above_even_odds():
    """The true labels of 20 documents have logits 1 to 20: the promise alone would allow a threshold of 3."""
    rule = fit(np.arange(1.0, 21.0)[:, None], np.ones((20, 1)), 0.15)
    assert rule.thresholds.tolist() == [0.0]
    assert fit(np.arange(1.0, 21.0)[:, None] - 30, np.ones((20, 1)), 0.15).thresholds.tolist() == [3.0 - 30]


def test_labels_with_enough_documents_have_their_own():
    """Ten documents of label 0 suffice for 10 %, which takes nine; the five of label 1 do not."""
    true = np.zeros((15, 2), dtype=np.int8)
    true[:10, 0], true[10:, 1] = 1, 1
    logits = np.where(true, np.arange(15)[:, None] - 15.0, -99.0)
    rule = fit(logits, true, 0.1, class_conditional=True)
    assert rule.by_label.tolist() == [True, False]
    # 0.1 (10 + 1) - 1 = 0.1 of a document: none may be missed; nor with five, which promise 1/6.
    assert rule.thresholds.tolist() == [-15.0, -5.0]
    assert rule.promised == pytest.approx(1 / 6)


@pytest.mark.parametrize("class_conditional", [False, True])
def test_promise_is_kept_on_average_over_draws(class_conditional: bool):
    """The share of missed labels; and with own thresholds, the misses of each label that has one."""
    draw, alpha = np.random.default_rng(2), 0.1
    shares, of_label = [], []
    for _ in range(300):
        rule = fit(*draw_documents(150, draw), alpha, class_conditional=class_conditional)
        logits, true = draw_documents(200, draw)
        given = rule.gives(logits)
        shares.append(missed_shares(true, given).mean())
        missed = (true.astype(bool) & ~given).sum(axis=0) / true.sum(axis=0).clip(min=1)
        of_label.append(np.where(rule.by_label, missed, np.nan))
    if not class_conditional:
        assert alpha - 0.02 < np.mean(shares) <= alpha + 3 * np.std(shares) / np.sqrt(300)
        return
    figures = np.array(of_label)
    assert not np.isnan(figures[:, :2]).all(axis=0).any()
    error = 3 * np.nanstd(figures, axis=0) / np.sqrt((~np.isnan(figures)).sum(axis=0).clip(min=1))
    assert (np.nanmean(figures[:, :2], axis=0) <= alpha + error[:2]).all()


def test_without_labelled_documents_the_odds_decide():
    rule = fit(np.ones((3, 2)), np.zeros((3, 2)), 0.1)
    assert rule.promised is None
    assert rule.thresholds.tolist() == [0.0, 0.0]
    with pytest.raises(ConfigError, match="masker calibrate"):
        rule.adjusted(0.2)


def test_another_rate_from_the_same_documents():
    logits, true = draw_documents(200, np.random.default_rng(3))
    rule = fit(logits, true, 0.1)
    other = rule.adjusted(0.3)
    assert other.thresholds[0] > rule.thresholds[0]
    assert other.thresholds[0] == fit(logits, true, 0.3).thresholds[0]
    with pytest.raises(ConfigError, match="between 0 and 1; got 2"):
        rule.adjusted(2)


def test_storage_gives_the_same_rule():
    rule = fit(*draw_documents(50, np.random.default_rng(4)), 0.1)
    again = LabelRule.from_stored(rule.to_manifest(), rule.to_arrays())
    assert again.thresholds.tolist() == rule.thresholds.tolist()
    assert again.true.logits.tolist() == rule.true.logits.tolist()
    assert again.to_manifest() == rule.to_manifest()


def test_just_enough_documents_for_a_threshold():
    """Nine suffice for 10 %, one for 1/2, and for 1 none; but no label has a threshold of its own from nothing."""
    for count, rate in ((9, 0.1), (1, 0.5), (1, 1.0)):
        true = np.zeros((count, 2), dtype=np.int8)
        true[:, 0] = 1
        assert fit(np.full((count, 2), -1.0), true, rate, class_conditional=True).by_label.tolist() == [True, False]


def test_rates_at_the_ends_are_allowed_and_those_beyond_are_not():
    rule = fit(*draw_documents(200, np.random.default_rng(3)), 0.1)
    assert [rule.adjusted(rate).missed_rate for rate in (0.0, 1.0)] == [0.0, 1.0]
    with pytest.raises(ConfigError, match=r"between 0 and 1; got -0\.5"):
        rule.adjusted(-0.5)
