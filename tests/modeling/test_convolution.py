"""The convolutional network, by hand, and as a model of transformers."""

import math

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification

from masker.modeling.convolution import ConvolutionalClassifier, ConvolutionConfig, convolution_on


def summing_network() -> ConvolutionalClassifier:
    """Token i has the vector (i); every filter sums its window, the hidden unit sums filters, two outputs ±."""
    network = ConvolutionalClassifier(ConvolutionConfig(vocab_size=10, embedding_size=1, filters=1, hidden_size=1))
    with torch.no_grad():
        network.words.weight.copy_(torch.arange(10.0).unsqueeze(1))
        for layer in (*network.filters, network.hidden):
            layer.weight.fill_(1.0)
            layer.bias.zero_()
        network.output.weight.copy_(torch.tensor([[1.0], [-1.0]]))
        network.output.bias.copy_(torch.tensor([0.5, 0.0]))
    return network.eval()


def run(network, *rows, **options):
    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    mask = torch.tensor([[*[1] * len(row), *[0] * (width - len(row))] for row in rows])
    return network(input_ids=ids, attention_mask=mask, **options)


def test_by_hand():
    """Tokens 1, 2, 3, 1: the best windows of 3, 4 and 5 words sum to 6, 7 and 7: hidden 20, outputs 20.5 and −20."""
    output = run(summing_network(), [1, 2, 3, 1], output_hidden_states=True)
    assert output.logits.tolist() == [[20.5, -20.0]]
    assert output.hidden_states[-1].tolist() == [[[20.0]]]


def test_padding_does_not_change_an_answer():
    """Neither the padding's own vector nor a bias that windows of padding alone would show."""
    network = summing_network()
    with torch.no_grad():
        network.words.weight[0] = 99.0
        for filters in network.filters:
            filters.weight.fill_(-1.0)
            filters.bias.fill_(5.0)
    alone = run(network, [1, 2]).logits
    padded = run(network, [1, 2], [3] * 12).logits
    torch.testing.assert_close(padded[:1], alone)


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    shape = {"vocab_size": 30, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BertConfig(**shape, intermediate_size=8, num_labels=3, problem_type="multi_label_classification")
    return BertForSequenceClassification(config)


def test_word_vectors_are_the_encoders_and_stay(encoder):
    network = convolution_on(encoder, filters=4, hidden=6, dropout=0.5)
    table = encoder.get_input_embeddings().weight
    torch.testing.assert_close(network.words.weight, table / table.std())
    assert not network.words.weight.requires_grad
    assert {name for name, parameter in network.named_parameters() if not parameter.requires_grad} == {"words.weight"}
    assert network.config.num_labels == 3
    torch.testing.assert_close(network.output.bias, torch.full((3,), -math.log(2)))  # σ = 1/3


def test_opens_again_as_a_model_of_transformers(encoder, tmp_path):
    network = convolution_on(encoder, filters=4, hidden=6, dropout=0.5).eval()
    network.save_pretrained(tmp_path)
    again = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    rows = np.random.default_rng(0).integers(0, 30, size=(4, 9)).tolist()
    assert torch.equal(run(again, *rows).logits, run(network, *rows).logits)
