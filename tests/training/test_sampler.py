"""Batches of similar length in a random order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masker.training import sampler as batches_module
from masker.training.sampler import LengthGroupedBatches

LENGTHS = np.random.default_rng(0).integers(3, 257, size=1000)


def order(epoch=0, seed=0, lengths=LENGTHS, batch_size=16):
    sampler = LengthGroupedBatches(lengths, batch_size, seed)
    sampler.epoch = epoch
    return list(sampler)


@given(count=st.integers(0, 300), batch_size=st.integers(1, 20), seed=st.integers(0, 5), epoch=st.integers(0, 5))
def test_every_document_once_in_full_batches(count, batch_size, seed, epoch):
    lengths = np.arange(count) % 7 + 1
    sampler = LengthGroupedBatches(lengths, batch_size, seed)
    sampler.epoch = epoch
    found = list(sampler)
    assert sorted(row for batch in found for row in batch) == list(range(count))
    assert len(found) == len(sampler) == -(-count // batch_size)
    assert sorted(len(batch) for batch in found)[1:] == [batch_size] * (len(found) - 1) if found else True


def test_same_seed_and_epoch_give_the_same_order():
    assert order(epoch=2, seed=5) == order(epoch=2, seed=5)
    sampler = LengthGroupedBatches(LENGTHS, 16, 0)
    assert list(sampler) == list(sampler)


def test_new_order_in_each_epoch_and_for_each_seed():
    assert order(epoch=0) != order(epoch=1)
    assert order(seed=0) != order(seed=1)
    assert order(epoch=1, seed=0) != order(epoch=0, seed=1)


def test_batches_have_other_members_in_each_epoch():
    first, second = ({frozenset(batch) for batch in order(epoch=epoch)} for epoch in (0, 1))
    assert not first & second


def test_order_does_not_touch_the_global_generator():
    before = np.random.get_state()[1].copy()
    order()
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_lengths_inside_a_batch_are_similar():
    """1000 lengths between 3 and 256 in one block of 63 batches or fewer: a batch spans a few tokens, not 250."""
    spans = [np.ptp(LENGTHS[batch]) for batch in order()]
    assert np.median(spans) < 15
    padded = sum(len(batch) * LENGTHS[batch].max() for batch in order())
    assert padded < 1.1 * LENGTHS.sum()


def test_batches_do_not_come_sorted_by_length():
    means = [LENGTHS[batch].mean() for batch in order()]
    assert abs(np.corrcoef(np.arange(len(means)), means)[0, 1]) < 0.5


def test_blocks_keep_some_chance_in_who_meets_whom(monkeypatch):
    """With blocks of one batch there is no sorting left: a batch is a plain random sample."""
    monkeypatch.setattr(batches_module, "BLOCK", 1)
    spans = [np.ptp(LENGTHS[batch]) for batch in order()]
    assert np.median(spans) > 150


@pytest.mark.parametrize("epoch", [0, 1])
def test_rows_are_plain_integers(epoch):
    assert all(type(row) is int for batch in order(epoch=epoch) for row in batch)


@given(count=st.integers(0, 100), batch_size=st.integers(1, 20), processes=st.integers(1, 5))
def test_processes_share_each_batch_without_a_document_twice(count, batch_size, processes):
    """Step by step, the parts of all processes together are the batch that one process would get."""
    lengths = np.arange(count) % 7 + 1
    whole = list(LengthGroupedBatches(lengths, batch_size, seed=3))
    parts = [list(LengthGroupedBatches(lengths, batch_size, 3, process, processes)) for process in range(processes)]
    assert all(len(part) == len(whole) for part in parts)
    for step, batch in enumerate(whole):
        shares = [part[step] for part in parts]
        assert sorted(row for share in shares for row in share) == sorted(batch)
        assert max(map(len, shares)) - min(map(len, shares)) <= 1
