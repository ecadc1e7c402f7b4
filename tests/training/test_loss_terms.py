"""The loss terms of a batch: two documents, the second with both views.

Rows of the outputs are document 0, document 1, its keyword-masked view, its context-masked view.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from masker.config import build_settings
from masker.training.loss_terms import loss_terms

LOG3 = math.log(3.0)
#: -log 3/4 and -log 1/4: the losses of logits (log 3, 0) for the first and the second class.
RIGHT, WRONG = math.log(4.0 / 3.0), math.log(4.0)
LABELS = torch.tensor([0, 1])
OUTPUTS = {
    "doc_logits": torch.tensor([[LOG3, 0.0], [0.0, 0.0], [LOG3, 0.0], [LOG3, 0.0]]),
    "token_logits": torch.tensor([[0.0, LOG3], [LOG3, 0.0]]),
}
BATCH = {
    "labels": LABELS,
    "document_of_row": torch.tensor([0, 1, 1, 1]),
    "view_of_row": torch.tensor([0, 0, 1, 2]),
    "masked_rows": torch.tensor([2, 2]),  # two keywords of the view are masked
    "keyword_labels": torch.tensor([1, 1]),
    "context_documents": torch.tensor([1]),
}


def settings(**loss):
    return build_settings({"loss": loss, "model": {"head": "multi-class"}})


def collator(share=1.0, *, keyword_view=True, context_view=True):
    views = SimpleNamespace(keyword_view=keyword_view, context_view=context_view, share=share)
    return SimpleNamespace(views=views, special_ids=np.array([0]))


def check(terms, **expected):
    assert set(terms) == set(expected)
    for name, values in expected.items():
        torch.testing.assert_close(terms[name], torch.tensor(values))


def test_the_three_terms_by_hand():
    """CE: -log 3/4 and -log 1/2. MKR: -log 3/4 - log 1/4, summed over the two keywords of document 1.

    MER: KL(U || (3/4, 1/4)) = -log 2 - (log 3/4 + log 1/4) / 2.
    """
    entropy = -math.log(2.0) + (RIGHT + WRONG) / 2.0
    terms = loss_terms(BATCH, OUTPUTS, collator(), settings())
    check(terms, L_CE=[RIGHT, math.log(2.0)], L_MKR=[0.0, RIGHT + WRONG], L_MER=[0.0, entropy])


def test_documents_with_views_count_for_those_without():
    whole, quarter = (loss_terms(BATCH, OUTPUTS, collator(share), settings()) for share in (1.0, 0.25))
    check(quarter, L_CE=whole["L_CE"].tolist(), **{n: (4.0 * whole[n]).tolist() for n in ("L_MKR", "L_MER")})


@pytest.mark.parametrize(("off", "left"), [("keyword_view", "L_MER"), ("context_view", "L_MKR")])
def test_a_view_that_is_off_has_no_term(off, left):
    assert set(loss_terms(BATCH, OUTPUTS, collator(**{off: False}), settings())) == {"L_CE", left}


def test_without_views_only_the_documents_count():
    plain = {"labels": LABELS}
    check(loss_terms(plain, OUTPUTS, collator(), settings()), L_CE=[RIGHT, math.log(2.0)])
    check(loss_terms(plain, OUTPUTS, SimpleNamespace(views=None), settings()), L_CE=[RIGHT, math.log(2.0)])


def test_a_mean_over_keywords():
    terms = loss_terms(BATCH, OUTPUTS, collator(), settings(mkr_reduction="mean"))
    torch.testing.assert_close(terms["L_MKR"], torch.tensor([0.0, (RIGHT + WRONG) / 2.0]))


def test_the_keyword_view_is_classified_where_it_augments():
    """Document 1 has class 1, and its view says (3/4, 1/4)."""
    terms = loss_terms(BATCH, OUTPUTS, collator(), settings(keyword_view="augment"))
    torch.testing.assert_close(terms["L_MKR"], torch.tensor([0.0, WRONG]))


def test_a_view_with_dropped_context_has_outputs_of_its_own():
    """Equal logits are uniform: MER is 0. Document 0 has the view now."""
    dropped = {**OUTPUTS, "context_doc_logits": torch.tensor([[1.0, 1.0], [LOG3, 0.0]])}
    batch = {**BATCH, "context_documents": torch.tensor([1, 0])}
    terms = loss_terms(batch, dropped, collator(), settings())
    torch.testing.assert_close(terms["L_MER"], torch.tensor([-math.log(2.0) + (RIGHT + WRONG) / 2.0, 0.0]))


def test_no_class_is_another_target():
    """1-vs-rest: -log(1 - sigmoid(log 3)) - log(1 - sigmoid(0)) = log 4 + log 2."""
    chosen = build_settings({"loss": {"mer_target": "no-class"}, "model": {"head": "one-vs-rest"}})
    terms = loss_terms(BATCH, OUTPUTS, collator(), chosen)
    torch.testing.assert_close(terms["L_MER"], torch.tensor([0.0, WRONG + math.log(2.0)]))


def test_a_biased_model_and_class_weights():
    """The bias (0, log 3) levels document 0; the classes weigh 2 and 5."""
    biased = {"labels": LABELS, "bias_logits": torch.tensor([[0.0, LOG3], [0.0, 0.0]])}
    terms = loss_terms(biased, OUTPUTS, collator(), settings(), torch.tensor([2.0, 5.0]))
    check(terms, L_CE=[2.0 * math.log(2.0), 5.0 * math.log(2.0)])


def test_attention_is_compared_over_content_tokens():
    """Attention (3/4, 1/4) to the two content tokens of document 0; token 0 is special. Document 1 has only one."""
    batch = {"labels": LABELS, "input_ids": torch.tensor([[0, 7, 8], [0, 9, 0]])}
    outputs = {**OUTPUTS, "attention": torch.tensor([[0.2, 0.6, 0.2], [0.5, 0.5, 0.0]])}
    terms = loss_terms(batch, outputs, collator(), settings())
    expected = -(math.log(2 * 0.75) + math.log(2 * 0.25)) / 2.0
    check(terms, L_CE=[RIGHT, math.log(2.0)], L_attn=[expected, 0.0])
