"""The convolutional network of DOC (Shu, Xu and Liu 2017): word vectors, filters of three widths, max over time.

It is a transformers model, so training, checkpoints and prediction work as for any other network. Plain transformers
does not know its type: such a folder opens with this package only.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from masker.modeling.heads import start_at_prior

MODEL_TYPE = "masker-convolution"
#: Words a filter spans.
WIDTHS = (3, 4, 5)


class ConvolutionConfig(PreTrainedConfig):  # type: ignore[misc]
    """Shape of the network."""

    model_type = MODEL_TYPE
    vocab_size: int = 1
    embedding_size: int = 1
    filters: int = 1
    hidden_size: int = 1
    dropout: float = 0.0


class ConvolutionalClassifier(PreTrainedModel):  # type: ignore[misc]
    """Convolutions over word vectors, a hidden layer, one output a class.

    The word vectors are fixed, so words unseen in training stay comparable with those seen.
    """

    config_class = ConvolutionConfig
    base_model_prefix = "convolution"

    def __init__(self, config: ConvolutionConfig) -> None:
        super().__init__(config)
        self.words = nn.Embedding(config.vocab_size, config.embedding_size)
        self.words.weight.requires_grad_(False)
        self.filters = nn.ModuleList(nn.Conv1d(config.embedding_size, config.filters, width) for width in WIDTHS)
        self.dropout = nn.Dropout(config.dropout)
        self.hidden = nn.Linear(len(WIDTHS) * config.filters, config.hidden_size)
        self.output = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, (nn.Conv1d, nn.Linear)):
            module.reset_parameters()

    def get_input_embeddings(self) -> nn.Module:
        return self.words

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        output_hidden_states: bool = False,
        **_: Any,
    ) -> SequenceClassifierOutput:
        """(B, C) logits of (B, T) token ids; the hidden layer is the only "hidden state", at one position.

        A window starts at a token of the document and may reach beyond its end into zeros, so the result does not
        depend on the padding of the batch.
        """
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        inside = attention_mask.unsqueeze(1)  # (B, 1, T)
        words = self.words(input_ids).transpose(1, 2) * inside  # (B, E, T)
        pooled = []
        for filters, width in zip(self.filters, WIDTHS, strict=True):
            found = functional.relu(filters(functional.pad(words, (0, width - 1))))  # (B, F, T)
            pooled.append((found * inside).amax(dim=2))
        hidden = functional.relu(self.hidden(self.dropout(torch.cat(pooled, dim=1))))  # (B, H)
        states = (hidden.unsqueeze(1),) if output_hidden_states else None
        return SequenceClassifierOutput(logits=self.output(self.dropout(hidden)), hidden_states=states)


def convolution_on(classifier: Any, *, filters: int, hidden: int, dropout: float) -> ConvolutionalClassifier:
    """A new convolutional network on an encoder's word vectors, with its labels and type of head.

    The embedding table is copied and scaled to variance 1, which new layers expect. There are ``filters`` of each
    width, ``hidden`` units, and dropout before and after the hidden layer.
    """
    table = classifier.get_input_embeddings().weight.detach()
    config = ConvolutionConfig(
        vocab_size=table.shape[0],
        embedding_size=table.shape[1],
        filters=filters,
        hidden_size=hidden,
        dropout=dropout,
        id2label=classifier.config.id2label,
        label2id=classifier.config.label2id,
        problem_type=classifier.config.problem_type,
    )
    network = ConvolutionalClassifier(config)
    with torch.no_grad():
        network.words.weight.copy_(table / table.std())
    if config.problem_type == "multi_label_classification":
        start_at_prior(network)
    return network


AutoConfig.register(MODEL_TYPE, ConvolutionConfig, exist_ok=True)
AutoModelForSequenceClassification.register(ConvolutionConfig, ConvolutionalClassifier, exist_ok=True)
