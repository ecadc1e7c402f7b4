"""The network: an encoder with the architecture's own document head f_doc, and our token head f_tok."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from masker.modeling.pooling import MEAN, pooling_of, pooling_parameters


def encoder_stack(classifier: Any) -> list[nn.Module]:
    """The encoder's layers without the pooling layer, lowest first; none where they share weights, as in ALBERT."""
    layers = list(getattr(getattr(classifier.base_model, "encoder", None), "layer", ()))
    return layers[:-1] if pooling_of(classifier.config) == MEAN else layers


class MaskerNetwork(nn.Module):
    """A native sequence classifier plus a token head on its last hidden states.

    f_doc is the architecture's own classification head, so the classifier can be saved and used without this package.
    f_tok is one linear layer with ``n_targets`` outputs, used in training only; 0 for methods without reconstruction.
    """

    def __init__(self, classifier: Any, n_targets: int = 0) -> None:
        super().__init__()
        self.classifier = classifier
        self.token_head: nn.Linear | None = None
        #: Gives the (R, T) document attention of the pass before; set while attention is regularized.
        self.read_attention: Callable[[], torch.Tensor | None] | None = None
        if n_targets:
            config = classifier.config
            self.token_head = nn.Linear(config.hidden_size, n_targets)
            nn.init.normal_(self.token_head.weight, std=getattr(config, "initializer_range", 0.02))
            nn.init.zeros_(self.token_head.bias)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        token_type_ids: torch.Tensor | None = None,
        masked_rows: torch.Tensor | None = None,
        masked_columns: torch.Tensor | None = None,
        context_input_ids: torch.Tensor | None = None,
        context_attention_mask: torch.Tensor | None = None,
        context_token_type_ids: torch.Tensor | None = None,
    ) -> dict[str, torch.Tensor]:
        """Run all (R, T) rows, documents and views, in one pass, and the (B, S) rows without context in a second one.

        f_tok is evaluated at the masked keywords only, (M,) rows and columns.

        Returns:
            ``doc_logits`` (R, C); ``token_logits`` (M, K) with a token head and masked positions;
            ``context_doc_logits`` (B, C) with dropped context; ``attention`` (R, T) where it is regularized.
        """
        reconstruct = self.token_head is not None and masked_rows is not None
        output = self._encode(input_ids, attention_mask, token_type_ids, output_hidden_states=reconstruct)
        result = {"doc_logits": output.logits}
        attention = None if self.read_attention is None else self.read_attention()
        if attention is not None:
            result["attention"] = attention
        if self.token_head is not None and masked_rows is not None:
            # Behind the last layer of the encoder; a pooling layer on top of it has no tokens left.
            states = output.hidden_states[-2 if pooling_of(self.classifier.config) == MEAN else -1]
            positions = states[masked_rows, masked_columns]  # (M, H)
            result["token_logits"] = self.token_head(positions)
        if context_input_ids is not None:
            context = self._encode(context_input_ids, context_attention_mask, context_token_type_ids)
            result["context_doc_logits"] = context.logits
        return result

    def _encode(self, input_ids: Any, attention_mask: Any, token_type_ids: Any, **options: Any) -> Any:
        # Encoders without segments do not accept the argument.
        segments = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        return self.classifier(input_ids=input_ids, attention_mask=attention_mask, **segments, **options)

    def freeze(self, *, embeddings: bool, layers: int) -> None:
        """Stop training the pooling and, if asked to, the embedding layers and the lowest layers of the encoder."""
        fixed = pooling_parameters(self.classifier)
        if embeddings:
            names = self.embedding_parameter_names()
            fixed += [parameter for name, parameter in self.named_parameters() if name in names]
        fixed += [parameter for layer in encoder_stack(self.classifier)[:layers] for parameter in layer.parameters()]
        for parameter in fixed:
            parameter.requires_grad = False

    def encoder_parameter_names(self) -> set[str]:
        """Names of the pre-trained parameters; all others belong to new heads."""
        prefix = f"classifier.{self.classifier.base_model_prefix}."
        return {name for name, _ in self.named_parameters() if name.startswith(prefix)}

    def embedding_parameter_names(self) -> set[str]:
        """Names of the parameters of the embedding layers (words, positions, segments and their norm)."""
        prefix = f"classifier.{self.classifier.base_model_prefix}.embeddings."
        names = {name for name, _ in self.named_parameters() if name.startswith(prefix)}
        if names:
            return names
        words = {id(parameter) for parameter in self.classifier.get_input_embeddings().parameters()}
        return {name for name, parameter in self.named_parameters() if id(parameter) in words}
