"""Encoders by embedded name, hub id or folder, opened safely."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from masker.config import SIGMOID_HEADS, Head, ModelSettings
from masker.errors import ModelError
from masker.hub import cache_only_when_offline
from masker.modeling.embedded import EMBEDDED, embedded_folder
from masker.modeling.heads import start_at_prior
from masker.modeling.pooling import MEAN, add_mean_pooling, can_pool_mean, shorten_pooling
from masker.modeling.quiet import quiet_transformers

#: 1-vs-rest is transformers' multi-label type, so its own pipeline applies a sigmoid to each class.
PROBLEM_TYPES: dict[Head, str] = {
    "one-vs-rest": "multi_label_classification",
    "multi-label": "multi_label_classification",
    "multi-class": "single_label_classification",
    "regression": "regression",
}


@dataclass(frozen=True)
class Backbone:
    """A pre-trained encoder with a new classification head, and its tokenizer."""

    tokenizer: Any
    classifier: Any
    max_length: int


def load_backbone(settings: ModelSettings, classes: Sequence[str]) -> Backbone:
    """Open a pre-trained encoder and add a new classification head.

    ``classes`` are in the order of the outputs, and ignored for regression. With pooling ``auto`` the head reads the
    document token; :func:`masker.training.pooling_choice.choose_pooling` decides what it reads in the end.
    """
    source = resolve_backbone(settings.backbone)
    tokenizer = load_tokenizer(source, settings.trust_remote_code)
    labels = ["score"] if settings.head == "regression" else list(classes)
    classifier, found = load_classifier(
        source,
        settings.trust_remote_code,
        output_loading_info=True,
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={label: index for index, label in enumerate(labels)},
        problem_type=PROBLEM_TYPES[settings.head],
        ignore_mismatched_sizes=True,  # the head of a classifier that is trained further has other classes
    )
    _check_sizes(settings.backbone, classifier, [str(name) for name, *_ in found["mismatched_keys"]])
    if (
        getattr(classifier.config, "is_decoder", False)
        or classifier.config.model_type == "masker-convolution"
        or tokenizer.mask_token_id is None
        or tokenizer.pad_token_id is None
    ):
        raise ModelError(
            f"backbone '{settings.backbone}' is not a bidirectional encoder with mask and padding tokens; "
            "use one of the BERT, RoBERTa, ALBERT, DeBERTa, ... families"
        )
    check_vocabulary(settings.backbone, tokenizer, classifier.get_input_embeddings().num_embeddings)
    if settings.pooling == MEAN:
        if not can_pool_mean(classifier.config):
            raise ModelError(
                f"model.pooling: backbone '{settings.backbone}' ({classifier.config.model_type}) cannot be read by its "
                "mean; use --set model.pooling=document-token"
            )
        add_mean_pooling(classifier)
    if settings.head in SIGMOID_HEADS:
        start_at_prior(classifier)
    return Backbone(tokenizer, classifier, encoder_length(settings.max_length, tokenizer, classifier))


def _check_sizes(backbone: str, classifier: Any, mismatched: list[str]) -> None:
    """Refuse weights of another shape than the configuration says, which would be replaced by random ones."""
    encoder = f"{classifier.base_model_prefix}."
    wrong = [name for name in mismatched if name.startswith(encoder)]
    if wrong:
        raise ModelError(
            f"backbone '{backbone}' is damaged: {len(wrong)} weights, {wrong[0]} among them, do not have the shape "
            "that its config.json says; get it again"
        )


def load_tokenizer(source: str, trust_remote_code: bool = False) -> Any:
    """Open the tokenizer of a folder or hub id."""
    from transformers import AutoTokenizer

    try:
        with _hub_access(source):
            tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=trust_remote_code)
    except Exception as error:  # whatever the content of a file leads the library to
        raise _unreachable(source, "tokenizer", error) from None
    if not tokenizer.is_fast:
        raise ModelError(f"the tokenizer of '{source}' has no fast version (tokenizer.json); convert it first")
    return tokenizer


def check_vocabulary(source: str | Path, tokenizer: Any, rows: int) -> None:
    """Refuse a tokenizer with a token beyond the rows of the network's table: a text with one would end in an error."""
    largest = max(tokenizer.get_vocab().values(), default=0)
    if largest >= rows:
        raise ModelError(
            f"the tokenizer in '{source}' does not fit its weights: it has token {largest}, they have vectors for "
            f"{rows}; restore the tokenizer of this model"
        )


def load_classifier(source: str, trust_remote_code: bool = False, **config: Any) -> Any:
    """Open the sequence classifier of a folder or hub id; only safetensors weights are read.

    With ``output_loading_info`` it comes with what was missing, as from transformers.
    """
    from transformers import AutoModelForSequenceClassification

    import masker.modeling.convolution  # noqa: F401  (makes its model type known to transformers)

    opened = _load_weights(AutoModelForSequenceClassification, source, trust_remote_code=trust_remote_code, **config)
    shorten_pooling(opened[0] if isinstance(opened, tuple) else opened)
    return opened


def load_encoder(source: str) -> Any:
    """Open the encoder of a folder without a head; only safetensors weights are read."""
    from transformers import AutoModel

    encoder = _load_weights(AutoModel, source)
    shorten_pooling(encoder)
    return encoder


def _load_weights(kind: Any, source: str, **options: Any) -> Any:
    try:
        # A head is meant to be new; a warning that it is "newly initialized" would only alarm the user.
        with quiet_transformers(), _hub_access(source):
            return kind.from_pretrained(source, use_safetensors=True, dtype="float32", **options)
    except Exception as error:  # whatever the content of a file leads the library to
        raise _unreachable(source, "weights", error) from None


def encoder_length(wanted: int, tokenizer: Any, classifier: Any) -> int:
    """The wanted row length, limited by the encoder's position embeddings and the tokenizer."""
    positions = getattr(classifier.config, "max_position_embeddings", None) or wanted
    # RoBERTa numbers positions from padding_idx + 1, so that many rows of its table are unused.
    table = getattr(getattr(classifier.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    usable = positions - (padding + 1 if padding is not None else 0)
    return int(min(wanted, usable, tokenizer.model_max_length))


def resolve_backbone(backbone: str) -> str:
    """The folder or hub id of a backbone."""
    if backbone in EMBEDDED:
        return str(embedded_folder(backbone))
    folder = Path(backbone).expanduser()
    if folder.is_dir() and not any(folder.glob("*.safetensors")):
        raise ModelError(
            f"backbone folder '{backbone}' has no safetensors weights; "
            "save the model with save_pretrained() of transformers (pickled weights are not opened)"
        )
    return backbone


def _hub_access(source: str) -> AbstractContextManager[Any]:
    return nullcontext() if Path(source).is_dir() else cache_only_when_offline()


def _unreachable(source: str, part: str, error: Exception) -> ModelError:
    reason = " ".join(str(error).split())[:160] or type(error).__name__
    if "ignore_mismatched_sizes" in reason:
        reason = "the tensors do not have the shapes that config.json says"
    if Path(source).is_dir():
        return ModelError(
            f"the {part} in folder '{source}' cannot be opened ({reason}); is it a complete model folder?"
        )
    if "connect" in reason:
        reason = "the hub is not reachable, and its cache does not have the model"
    names = ", ".join(f"'{name}'" for name in EMBEDDED)
    return ModelError(
        f"backbone '{source}' is neither an embedded model ({names}), nor a folder, nor a model that the hub returned; "
        f"check the name and the network, or use --backbone {next(iter(EMBEDDED))} ({reason})"
    )
