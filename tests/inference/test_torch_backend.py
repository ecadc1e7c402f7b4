"""The native classifier in PyTorch, with a tiny BERT."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

from masker.documents.encoding import Encoded
from masker.inference import torch_backend
from masker.inference.document_attention import document_attention, last_layer_attention
from masker.inference.torch_backend import TorchBackend, encoder_vectors, visit_attention

PAD, CLS, SEP = 0, 1, 2
LENGTHS = [3, 9, 5, 9, 4, 7, 3]
TOKENIZER = SimpleNamespace(all_special_ids=[PAD, CLS, SEP], unk_token_id=3, pad_token_id=PAD)


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


@pytest.mark.parametrize("budget", [1, 20, 4096])
def test_logits_are_those_of_single_texts(classifier, encoded, budget, monkeypatch):
    monkeypatch.setattr(torch_backend, "inference_tokens", lambda device, hidden: budget)
    seen = []
    logits = TorchBackend(classifier, TOKENIZER, "cpu").predict_logits(encoded, seen.append)
    assert logits.shape == (7, 3) and logits.dtype == np.float32 and sum(seen) == 7
    with torch.inference_mode():
        expected = [classifier(torch.from_numpy(ids)[None]).logits[0].numpy() for ids in encoded.input_ids]
    np.testing.assert_allclose(logits, np.stack(expected), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kinds", [None, ("cls", "middle")])
def test_batches_side_by_side_give_the_same(classifier, encoded, kinds, monkeypatch):
    monkeypatch.setattr(torch_backend, "inference_tokens", lambda device, hidden: 9)
    backend, found = TorchBackend(classifier, TOKENIZER, "cpu"), []
    for workers in (1, 3):
        monkeypatch.setattr(torch_backend, "_workers", lambda device, workers=workers: workers)
        if kinds is None:
            found.append([backend.predict_logits(encoded)])
        else:
            outputs = backend.predict_outputs(encoded, kinds)
            found.append([outputs.logits, *outputs.features.values()])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, atol=1e-6)


def test_only_a_cpu_runs_batches_side_by_side():
    assert torch_backend._workers(torch.device("cpu")) == torch.get_num_threads()
    assert torch_backend._workers(torch.device("meta")) == 1


def test_outputs_have_the_same_logits_and_the_document_token(classifier, encoded):
    backend = TorchBackend(classifier, TOKENIZER, "cpu")
    outputs = backend.predict_outputs(encoded, ("cls", "middle"))
    np.testing.assert_allclose(outputs.logits, backend.predict_logits(encoded), atol=1e-5)
    assert {kind: values.shape for kind, values in outputs.features.items()} == {"cls": (7, 16), "middle": (7, 16)}
    with torch.inference_mode():
        alone = classifier(torch.from_numpy(encoded.input_ids[1])[None], output_hidden_states=True).hidden_states
    np.testing.assert_allclose(outputs.features["cls"][1], alone[-1][0, 0], atol=1e-5)
    np.testing.assert_allclose(outputs.features["middle"][1], alone[1][0, 1:-1].mean(dim=0), atol=1e-5)


def test_dropout_is_off(classifier, encoded):
    backend = TorchBackend(classifier.train(), TOKENIZER, "cpu")
    np.testing.assert_array_equal(backend.predict_logits(encoded), backend.predict_logits(encoded))


def test_no_documents(classifier):
    empty = Encoded([], None, None, np.array([], dtype=np.int64))
    assert TorchBackend(classifier, TOKENIZER, "cpu").predict_logits(empty).shape == (0, 3)


def test_means_are_scaled_to_length_one(classifier, encoded):
    means = encoder_vectors(classifier.base_model, TOKENIZER, encoded)
    np.testing.assert_allclose(np.linalg.norm(means, axis=1), 1.0, rtol=1e-5)
    with torch.inference_mode():
        alone = classifier.base_model(torch.from_numpy(encoded.input_ids[0])[None]).last_hidden_state[0].sum(dim=0)
    np.testing.assert_allclose(means[0], alone / alone.norm(), atol=1e-5)


def test_an_encoder_can_be_read_by_its_first_token(classifier, encoded):
    vectors = encoder_vectors(classifier.base_model, TOKENIZER, encoded, first=True)
    with torch.inference_mode():
        alone = classifier.base_model(torch.from_numpy(encoded.input_ids[0])[None]).last_hidden_state[0, 0]
    np.testing.assert_allclose(vectors[0], alone / alone.norm(), atol=1e-5)


@pytest.mark.parametrize("budget", [20, 4096])
def test_every_document_is_visited_once_with_its_attention(classifier, encoded, budget, monkeypatch):
    monkeypatch.setattr(torch_backend, "inference_tokens", lambda device, hidden: budget)
    visited, advanced = {}, []

    def visit(token_ids, attention, content, rows):
        for place, row in enumerate(rows):
            assert int(row) not in visited
            visited[int(row)] = (token_ids[place], attention[place], content[place])

    visit_attention(classifier, TOKENIZER, encoded, visit, advanced.append)
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


def test_rounded_weights_are_not_saved_and_the_token_head_is(classifier):
    head = {"token_head.weight": np.ones((2, 16)), "known.cls.means": np.ones(1)}
    weights = TorchBackend(classifier, TOKENIZER, "cpu", tensors=head).weights()
    assert weights.native is classifier and list(weights.tensors) == ["token_head.weight"]
    assert TorchBackend(BertForSequenceClassification(classifier.config), TOKENIZER, "cpu", bf16=True).weights() is None
