"""Attention of the document token: the fast way against what transformers itself reports."""

import copy
import logging
import types

import pytest
import torch
from transformers import (
    AlbertConfig,
    AlbertForSequenceClassification,
    BertConfig,
    BertForSequenceClassification,
    MPNetConfig,
    MPNetForSequenceClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from masker.errors import ModelError
from masker.inference.document_attention import DocumentAttention, document_attention, last_layer_attention
from masker.modeling.pooling import add_mean_pooling

SIZES = {
    "vocab_size": 30,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 16,
    "max_position_embeddings": 24,
    "num_labels": 3,
    "initializer_range": 0.5,  # so that attention is far from uniform and layers and heads differ
    "pad_token_id": 1,
}
FAMILIES = {
    "bert": lambda: BertForSequenceClassification(BertConfig(**SIZES)),
    "roberta": lambda: RobertaForSequenceClassification(RobertaConfig(**SIZES)),
    "albert": lambda: AlbertForSequenceClassification(AlbertConfig(embedding_size=8, **SIZES)),
}


@pytest.fixture(params=FAMILIES)
def classifier(request):
    torch.manual_seed(0)
    return FAMILIES[request.param]().eval()


def inputs(padded=True):
    ids = torch.randint(4, 30, (3, 9), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    if padded:
        for row, length in enumerate([9, 4, 6]):
            ids[row, length:] = 1
            mask[row, length:] = 0
    return {"input_ids": ids, "attention_mask": mask}


@torch.inference_mode()
def by_output_attentions(classifier, batch):
    eager = copy.deepcopy(classifier)
    eager.set_attn_implementation("eager")
    layers = eager(**batch, output_attentions=True).attentions
    return torch.stack(layers)  # (layers, B, heads, T, T)


@torch.inference_mode()
def captured(classifier, batch):
    with document_attention(classifier) as capture:
        return last_layer_attention(classifier, capture, batch)


@pytest.mark.parametrize("padded", [True, False])
def test_equals_the_last_layer_averaged_over_heads(classifier, padded):
    batch = inputs(padded)
    layers = by_output_attentions(classifier, batch)
    row = captured(classifier, batch)
    torch.testing.assert_close(row, layers[-1].mean(dim=1)[:, 0], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(row.sum(dim=1), torch.ones(3))
    # The comparison could tell: another layer, another row and a single head all look different.
    for other in (layers[0].mean(dim=1)[:, 0], layers[-1].mean(dim=1)[:, 1], layers[-1][:, 0, 0]):
        assert (row - other).abs().max() > 1e-3


@pytest.mark.parametrize("family", ["bert", "roberta"])
@pytest.mark.parametrize("padded", [True, False])
def test_a_pooled_document_attends_as_its_tokens_do_on_average(family, padded):
    """By output_attentions of the encoder before the pooling layer was added."""
    torch.manual_seed(0)
    classifier, batch = FAMILIES[family]().eval(), inputs(padded)
    heads = by_output_attentions(classifier, batch)[-1].mean(dim=1)  # (B, T, T)
    seen = batch["attention_mask"].float()
    expected = torch.einsum("bq,bqk->bk", seen, heads) / seen.sum(dim=1, keepdim=True)
    add_mean_pooling(classifier)
    row = captured(classifier, batch)
    torch.testing.assert_close(row, expected, atol=1e-5, rtol=1e-4)
    assert (row - heads[:, 0]).abs().max() > 1e-3, "the document token alone looks different"


def test_a_pooled_architecture_that_passes_us_by():
    """Two tokens of three are seen; the third one's attention does not count."""
    heads = torch.tensor([[[[0.2, 0.8, 0.0], [0.6, 0.4, 0.0], [1.0, 0.0, 0.0]]]])

    def model(attention_mask, output_attentions=False):
        return types.SimpleNamespace(attentions=(heads,) if output_attentions else None)

    model.config = types.SimpleNamespace(masker_pooling="mean")
    row = last_layer_attention(model, DocumentAttention(), {"attention_mask": torch.tensor([[1, 1, 0]])})
    torch.testing.assert_close(row, torch.tensor([[0.4, 0.6, 0.0]]))


def test_an_attention_of_its_own_is_read_without_a_warning(caplog):
    """MPNet's layers do not call the function that we register."""
    torch.manual_seed(0)
    classifier, batch = MPNetForSequenceClassification(MPNetConfig(**SIZES)).eval(), inputs()
    transformers_logger = logging.getLogger("transformers")
    transformers_logger.addHandler(caplog.handler)
    row = captured(classifier, batch)
    transformers_logger.removeHandler(caplog.handler)
    torch.testing.assert_close(row, by_output_attentions(classifier, batch)[-1].mean(dim=1)[:, 0])
    assert row[batch["attention_mask"] == 0].abs().max() == 0.0
    assert caplog.text == ""


def test_padding_gets_no_attention(classifier):
    batch = inputs()
    assert captured(classifier, batch)[batch["attention_mask"] == 0].abs().max() < 1e-6


def test_padding_does_not_change_the_row(classifier):
    batch = inputs()
    alone = {name: values[1:2, :4] for name, values in batch.items()}
    torch.testing.assert_close(captured(classifier, batch)[1, :4], captured(classifier, alone)[0], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("before", ["sdpa", "eager"])
def test_logits_stay_and_the_implementation_is_restored(classifier, before):
    classifier.set_attn_implementation(before)
    batch = inputs()
    with torch.inference_mode():
        plain = classifier(**batch).logits
        with document_attention(classifier) as capture:
            assert classifier.config._attn_implementation != before
            last_layer_attention(classifier, capture, batch)
        assert classifier.config._attn_implementation == before
        torch.testing.assert_close(classifier(**batch).logits, plain, atol=0, rtol=0)


def test_implementation_is_restored_after_an_error(classifier):
    before = classifier.config._attn_implementation

    def fail():
        with document_attention(classifier):
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert classifier.config._attn_implementation == before


def test_two_captures_in_turn_do_not_mix():
    torch.manual_seed(0)
    one, two = FAMILIES["bert"]().eval(), FAMILIES["bert"]().eval()
    batch = inputs()
    first = captured(one, batch)
    second = captured(two, batch)
    assert (first - second).abs().max() > 1e-3
    torch.testing.assert_close(captured(one, batch), first)


def test_take_gives_the_row_once():
    capture = DocumentAttention()
    capture._row = torch.ones(1, 2)
    assert capture.take().tolist() == [[1.0, 1.0]]
    assert capture.take() is None


def test_boolean_and_additive_masks_agree():
    """Queries and keys (1, 2, 3, 4): the third key is masked, once by False, once by minus infinity."""
    query, key, value = torch.randn(3, 1, 2, 3, 4, generator=torch.Generator().manual_seed(0))
    allowed = torch.tensor([True, True, False]).expand(1, 1, 3, 3)
    added = torch.zeros(1, 1, 3, 3).masked_fill(~allowed, torch.finfo(torch.float32).min)
    module = types.SimpleNamespace(training=False, is_causal=False)
    rows = []
    for mask in (allowed, added):
        capture = DocumentAttention()
        capture.attention(module, query, key, value, mask)
        rows.append(capture.take())
    torch.testing.assert_close(rows[0], rows[1])
    assert rows[0][0, 2] == 0


def test_row_by_hand():
    """One head, d = 1, scaling 1: query 1, keys log 3, 0, 0 -> softmax (3, 1, 1) / 5.

    A second head with keys 0, 0, log 8 -> (1, 1, 8) / 10; the mean is (0.35, 0.15, 0.5).
    """
    keys = torch.tensor([[[3.0, 1.0, 1.0], [1.0, 1.0, 8.0]]]).log()[..., None]
    query = torch.ones(1, 2, 3, 1)
    query[:, :, 1:] = -5.0  # the other tokens' queries do not matter
    capture = DocumentAttention()
    capture.attention(types.SimpleNamespace(training=False, is_causal=False), query, keys, keys, None, scaling=1.0)
    torch.testing.assert_close(capture.take(), torch.tensor([[0.35, 0.15, 0.5]]))


def test_architecture_that_passes_us_by_is_asked_the_slow_way():
    attentions = (torch.zeros(1, 2, 2, 2), torch.tensor([[[[0.2, 0.8], [0, 0]], [[0.6, 0.4], [0, 0]]]]))

    def model(output_attentions=False):
        return types.SimpleNamespace(attentions=attentions if output_attentions else None)

    model.config = types.SimpleNamespace()
    torch.testing.assert_close(last_layer_attention(model, DocumentAttention(), {}), torch.tensor([[0.4, 0.6]]))


@pytest.mark.parametrize("attentions", [None, (), (None,)])
def test_architecture_without_attention_is_refused(attentions):
    def model(**_):
        return types.SimpleNamespace(attentions=attentions)

    with pytest.raises(ModelError, match="keywords frequency"):
        last_layer_attention(model, DocumentAttention(), {})


def test_nothing_behind_the_last_attention_is_computed(classifier):
    """The head is never reached, and the next pass starts from the first layer again."""
    reached = []
    classifier.classifier.register_forward_hook(lambda *_: reached.append(1))
    batch = inputs()
    with torch.inference_mode(), document_attention(classifier) as capture:
        first, second = (last_layer_attention(classifier, capture, batch) for _ in range(2))
    assert not reached
    torch.testing.assert_close(first, second)
    classifier(**batch)
    assert reached


@pytest.mark.parametrize("before", ["sdpa", "eager"])
def test_a_pass_to_the_end_gives_logits_and_a_row_with_a_gradient(classifier, before):
    classifier.set_attn_implementation(before)
    batch = inputs()
    expected, row = classifier(**batch).logits, by_output_attentions(classifier, batch)[-1].mean(dim=1)[:, 0]
    with document_attention(classifier, to_the_end=True) as capture:
        for _ in range(2):  # a second pass before the row is taken, as for views without context
            logits = classifier(**batch).logits
        found = capture.take()
        torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(found.detach(), row, rtol=1e-4, atol=1e-5)
        assert capture.take() is None
    (found[0, 1] - found[0, 2]).backward()
    embedded = classifier.get_input_embeddings().weight.grad
    assert embedded is not None and embedded.abs().sum() > 0
