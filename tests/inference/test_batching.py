"""Running a classifier over documents, with a tiny BERT."""

import types

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

from masker.documents.encoding import Encoded
from masker.inference import batching as inference
from masker.inference.batching import content_special_ids, pool_windows, predict_logits, visit_attention
from masker.inference.document_attention import document_attention, last_layer_attention
from masker.masking.collator import Collator

PAD, CLS, SEP = 0, 1, 2
LENGTHS = [3, 9, 5, 9, 4, 7, 3]


@pytest.fixture(scope="module")
def classifier():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
        num_labels=3,
        initializer_range=0.5,
    )
    return BertForSequenceClassification(config)


@pytest.fixture
def encoded():
    random = np.random.default_rng(0)
    rows = [np.array([CLS, *random.integers(4, 30, size=length - 2), SEP]) for length in LENGTHS]
    return Encoded(rows, None, np.zeros(len(rows), dtype=np.int64), np.arange(len(rows)))


@pytest.fixture
def collator():
    return Collator(PAD, [PAD, CLS, SEP])


@pytest.mark.parametrize("budget", [1, 20, 4096])
def test_logits_in_the_order_of_the_rows_whatever_the_batches(classifier, collator, encoded, budget, monkeypatch):
    monkeypatch.setattr(inference, "MAX_TOKENS", budget)
    seen = []
    logits = predict_logits(classifier, collator, encoded, seen.append)
    assert logits.shape == (7, 3)
    assert logits.dtype == np.float32
    assert sum(seen) == 7
    with torch.inference_mode():
        expected = [classifier(torch.from_numpy(ids)[None]).logits[0].numpy() for ids in encoded.input_ids]
    np.testing.assert_allclose(logits, np.stack(expected), atol=1e-5, rtol=1e-4)


def test_dropout_is_off(classifier, collator, encoded):
    classifier.train()
    first, second = (predict_logits(classifier, collator, encoded) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_no_documents(classifier, collator):
    empty = Encoded([], None, None, np.array([], dtype=np.int64))
    assert predict_logits(classifier, collator, empty).shape == (0, 3)


@pytest.mark.parametrize("budget", [20, 4096])
def test_every_document_is_visited_once_with_its_attention(classifier, collator, encoded, budget, monkeypatch):
    monkeypatch.setattr(inference, "MAX_TOKENS", budget)
    visited, advanced = {}, []

    def visit(token_ids, attention, content, rows):
        for place, row in enumerate(rows):
            assert int(row) not in visited
            visited[int(row)] = (token_ids[place], attention[place], content[place])

    visit_attention(classifier, collator, encoded, visit, advanced.append)
    assert sorted(visited) == list(range(7))
    assert sum(advanced) == 7
    for row, (token_ids, attention, content) in visited.items():
        length = LENGTHS[row]
        np.testing.assert_array_equal(token_ids[:length], encoded.input_ids[row])
        assert content.tolist() == [False, *[True] * (length - 2), *[False] * (len(token_ids) - length + 1)]
        with torch.inference_mode(), document_attention(classifier) as capture:
            alone = last_layer_attention(
                classifier, capture, {"input_ids": torch.from_numpy(encoded.input_ids[row])[None]}
            )
        torch.testing.assert_close(attention[:length], alone[0], atol=1e-5, rtol=1e-4)


def test_special_ids_leave_the_unknown_token_in():
    tokenizer = types.SimpleNamespace(all_special_ids=[0, 1, 2, 3, 4], unk_token_id=3, pad_token_id=0)
    assert content_special_ids(tokenizer) == {0, 1, 2, 4}


def test_padding_token_that_is_also_the_unknown_token_is_no_content():
    tokenizer = types.SimpleNamespace(all_special_ids=[0, 1, 2], unk_token_id=0, pad_token_id=0)
    assert content_special_ids(tokenizer) == {0, 1, 2}


def test_pool_windows_by_hand():
    """Document 0 has windows (1, 4) and (3, 0): mean (2, 2), max (3, 4). Document 1 has one window, out of order."""
    logits = np.array([[1.0, 4.0], [-5.0, -6.0], [3.0, 0.0]], dtype=np.float32)
    document = np.array([0, 1, 0])
    np.testing.assert_array_equal(pool_windows(logits, document, 2, "mean"), [[2.0, 2.0], [-5.0, -6.0]])
    np.testing.assert_array_equal(pool_windows(logits, document, 2, "max"), [[3.0, 4.0], [-5.0, -6.0]])


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_pooling_single_windows_changes_nothing(pooling):
    logits = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    pooled = pool_windows(logits, np.arange(4), 4, pooling)
    np.testing.assert_array_equal(pooled, logits)
    assert pooled.dtype == np.float32
