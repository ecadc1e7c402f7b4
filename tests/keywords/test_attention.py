"""Eq. 2, worked out by hand."""

import numpy as np
import pytest
import torch

from masker.keywords.attention import AttentionScheme, AttentionScores, document_token_scores
from masker.keywords.scheme import Evidence

CLS, SEP, PAD = 1, 2, 0
# Two documents: [CLS] 5 6 5 [SEP] and [CLS] 6 7 [SEP] [PAD]. Special and padding positions carry large attention.
IDS = torch.tensor([[CLS, 5, 6, 5, SEP], [CLS, 6, 7, SEP, PAD]])
ATTENTION = torch.tensor([[90.0, 2.0, 2.0, 1.0, 70.0], [50.0, 3.0, 4.0, 60.0, 80.0]])
CONTENT = torch.tensor([[0, 1, 1, 1, 0], [0, 1, 1, 0, 0]]).bool()
LABELS = torch.tensor([0, 1])


def scores(batches, n_classes=2, vocabulary=8):
    accumulated = AttentionScores(n_classes, vocabulary)
    for batch in batches:
        accumulated.update(*batch)
    return accumulated


def test_equation_2_by_hand():
    """Document 1 has content attention (2, 2, 1), l2 norm sqrt(4 + 4 + 1) = 3, so (2/3, 2/3, 1/3).

        token 5 occurs first and third: (2/3 + 1/3) / 2 = 1/2
        token 6 occurs once:                                2/3

    Document 2 has (3, 4), norm 5: token 6 -> 3/5, token 7 -> 4/5.

    Sums over documents: token 5: 1/2; token 6: 2/3 + 3/5 = 19/15; token 7: 4/5. All others are absent: -inf.
    """
    result = scores([(IDS, ATTENTION, CONTENT, LABELS)]).attention_scores()
    minus = -np.inf
    assert result == pytest.approx([minus, minus, minus, minus, minus, 0.5, 19 / 15, 0.8])


def test_scores_of_each_class_by_hand():
    """Document 1 is of class 0, document 2 of class 1: the sums of the test above, per class."""
    result = scores([(IDS, ATTENTION, CONTENT, LABELS)]).class_attention_scores()
    assert result[0, 5:] == pytest.approx([0.5, 2 / 3, -np.inf])
    assert result[1, 5:] == pytest.approx([-np.inf, 0.6, 0.8])
    assert np.isneginf(result[:, :5]).all()


def test_summand_of_each_document():
    rows, tokens, values = document_token_scores(IDS, ATTENTION, CONTENT)
    found = {(int(r), int(t)): float(v) for r, t, v in zip(rows, tokens, values, strict=True)}
    assert found == pytest.approx({(0, 5): 0.5, (0, 6): 2 / 3, (1, 6): 0.6, (1, 7): 0.8})


@pytest.mark.parametrize("elsewhere", [0.0, 1e-3, 1e6])
def test_attention_at_special_and_padding_positions_does_not_matter(elsewhere):
    changed = torch.where(CONTENT, ATTENTION, torch.tensor(elsewhere))
    before = scores([(IDS, ATTENTION, CONTENT, LABELS)]).attention_scores()
    np.testing.assert_array_equal(scores([(IDS, changed, CONTENT, LABELS)]).attention_scores(), before)


def test_norm_makes_a_document_insensitive_to_the_scale_of_its_attention():
    before = scores([(IDS, ATTENTION, CONTENT, LABELS)]).attention_scores()
    scaled = ATTENTION * torch.tensor([[0.001], [1000.0]])
    assert scores([(IDS, scaled, CONTENT, LABELS)]).attention_scores() == pytest.approx(before)


def test_several_batches_equal_one_batch():
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(3, 20, (6, 9), generator=generator)
    attention = torch.rand(6, 9, generator=generator)
    content = torch.rand(6, 9, generator=generator) < 0.7
    labels = torch.tensor([0, 1, 2, 0, 1, 2])
    whole = scores([(ids, attention, content, labels)], 3, 20)
    cuts = [slice(0, 1), slice(1, 4), slice(4, 6)]
    parts = scores([(ids[c], attention[c], content[c], labels[c]) for c in cuts], 3, 20)
    assert parts.attention_scores() == pytest.approx(whole.attention_scores())
    np.testing.assert_allclose(parts.class_attention_scores(), whole.class_attention_scores())


def test_same_document_twice_counts_twice():
    once = scores([(IDS, ATTENTION, CONTENT, LABELS)]).attention_scores()
    twice = scores([(IDS, ATTENTION, CONTENT, LABELS)] * 2).attention_scores()
    assert twice == pytest.approx(2 * once)


def test_document_without_content_adds_nothing_and_no_nan():
    """Row 1 has no content at all, row 0 has content with attention 0: token 5 scores 0, not NaN."""
    ids = torch.tensor([[CLS, 5, SEP], [CLS, SEP, PAD]])
    content = torch.tensor([[0, 1, 0], [0, 0, 0]]).bool()
    result = scores([(ids, torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]), content, LABELS)]).attention_scores()
    assert result[5] == 0.0
    assert np.isneginf(np.delete(result, 5)).all()


def test_batch_without_any_content_is_empty():
    rows, tokens, values = document_token_scores(IDS, ATTENTION, torch.zeros_like(CONTENT))
    assert len(rows) == len(tokens) == len(values) == 0


def test_half_precision_attention_is_summed_in_double():
    """1/3 in float16 is 0.33325195...; the sum keeps float16's value and adds no rounding of its own."""
    ids, content = torch.tensor([[5, 6]]), torch.ones(1, 2, dtype=torch.bool)
    attention = torch.tensor([[1 / 3, 2 / 3]], dtype=torch.float16)
    low, high = attention.double()[0].tolist()
    result = scores([(ids, attention, content, torch.tensor([0]))]).attention_scores()
    assert result[5] == pytest.approx(low / (low**2 + high**2) ** 0.5, rel=1e-12)


def test_sums_of_several_processes_are_added_up():
    """Two processes with one document each: the sums of the first test; tokens that neither has seen stay -inf."""
    parts = [scores([(IDS[row], ATTENTION[row], CONTENT[row], LABELS[row])]) for row in (slice(0, 1), slice(1, 2))]
    others = iter([parts[1]._by_class, parts[1]._seen.int()])
    parts[0].add_up(lambda tensor: tensor + next(others))
    whole = scores([(IDS, ATTENTION, CONTENT, LABELS)])
    assert parts[0].attention_scores() == pytest.approx(whole.attention_scores())
    assert parts[0].class_attention_scores() == pytest.approx(whole.class_attention_scores())


def test_scheme_asks_for_attention_and_passes_the_sums_on():
    summed = scores([(IDS, ATTENTION, CONTENT, LABELS)])
    scheme, evidence = AttentionScheme(), Evidence(lambda: np.zeros((2, 8), dtype=np.int64), lambda: summed)
    assert scheme.reads_attention
    np.testing.assert_array_equal(scheme.scores(evidence), summed.attention_scores())
    np.testing.assert_array_equal(scheme.class_scores(evidence), summed.class_attention_scores())
