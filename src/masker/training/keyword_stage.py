"""Choosing keywords for a training set, by the scheme that the settings name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from masker import distributed
from masker.config import LINEAR_METHODS, Settings
from masker.documents.encoding import Encoded
from masker.errors import ConfigError
from masker.inference.batching import content_special_ids, visit_attention
from masker.keywords import KeywordSet
from masker.keywords.attention import AttentionScores
from masker.keywords.choice import excluded_tokens, select_keywords
from masker.keywords.frequency import class_frequency_scores, class_token_counts, frequency_scores
from masker.keywords.keyword_files import read_keywords
from masker.keywords.random import random_scores
from masker.masking.collator import Collator
from masker.modeling.backbone import load_classifier
from masker.modeling.convolution import MODEL_TYPE
from masker.modeling.devices import use_bf16
from masker.modeling.model_folder import load_manifest
from masker.progress import progress_bar

SCHEMES = ("attention", "frequency", "random")


def choose_keywords(
    settings: Settings, tokenizer: Any, classifier: Any, train: Encoded, classes: Sequence[str]
) -> KeywordSet:
    """The keyword set of the training documents.

    Args:
        settings: ``settings.keywords`` names the scheme, the number and what to exclude.
        tokenizer: Tokenizer of the backbone.
        classifier: The vanilla classifier whose attention is read, unless the settings name another folder.
        train: Encoded training documents with class indices (or scores).
        classes: Class names; empty for regression.

    Raises:
        ConfigError: When the scheme does not fit the task or more keywords are asked for than there are.
    """
    wanted = settings.keywords
    if wanted.source not in SCHEMES:
        words = distributed.first_only(lambda: read_keywords(wanted.source, tokenizer).to_json())
        return KeywordSet.from_json(words)
    n_classes = max(1, len(classes))
    labels = (
        np.asarray(train.labels, dtype=np.int64) if classes and train.labels is not None else np.zeros(len(train), int)
    )
    if wanted.source == "attention":
        if wanted.attention_model is not None:
            classifier = distributed.together(partial(_attention_model, wanted.attention_model))
        scores = attention_keyword_scores(
            classifier,
            tokenizer,
            train,
            labels,
            n_classes,
            class_balanced=wanted.class_balanced,
            bf16=use_bf16(settings.training.precision),
        )
    else:
        if wanted.source == "random":
            scores = random_scores(_counts(tokenizer, train, labels, n_classes), settings.training.seed)
        elif n_classes < 2:
            raise ConfigError("frequency keywords compare classes and a regression has none; use --keywords attention")
        else:
            scores = frequency_keyword_scores(tokenizer, train, labels, n_classes, class_balanced=wanted.class_balanced)
    return select_keywords(
        wanted.source,
        scores,
        wanted.count or wanted.per_class * n_classes,
        tokenizer,
        excluded=excluded_tokens(
            tokenizer, stop_words=wanted.exclude_stop_words, punctuation=wanted.exclude_punctuation
        ),
    )


def _attention_model(folder: str) -> Any:
    """Open a trained model whose attention can be read."""
    method = load_manifest(folder).manifest.get("settings", {}).get("training", {}).get("method")
    classifier = None if method in LINEAR_METHODS else load_classifier(folder)
    if classifier is None or classifier.config.model_type == MODEL_TYPE:
        raise ConfigError(f"keywords.attention_model: '{folder}' (method {method}) has no attention; give a fine-tuned "
                          "encoder, such as one of method vanilla")  # fmt: skip
    return classifier


def attention_keyword_scores(
    classifier: Any,
    tokenizer: Any,
    train: Encoded,
    labels: npt.NDArray[np.int64],
    n_classes: int,
    *,
    class_balanced: bool = False,
    bf16: bool = False,
) -> npt.NDArray[np.float64]:
    """Eq. 2 over the training documents: (V,) scores, or (C, V) for class-balanced selection.

    Each of several processes reads its share of the documents; the sums of Eq. 2 are then added up.
    """
    scores = AttentionScores(n_classes, len(tokenizer))
    if distributed.world_size() > 1:
        own = np.arange(distributed.rank(), len(train), distributed.world_size())
        train, labels = train.take(own.tolist()), labels[own]
    class_of = torch.from_numpy(labels)
    bar = progress_bar(len(train), "attention keywords", "doc")

    def visit(
        token_ids: torch.Tensor, attention: torch.Tensor, content: torch.Tensor, rows: npt.NDArray[np.int64]
    ) -> None:
        scores.update(token_ids, attention, content, class_of[rows])

    collator = Collator(tokenizer.pad_token_id, sorted(content_special_ids(tokenizer)))
    visit_attention(classifier, collator, train, visit, bar.update, bf16=bf16)
    bar.close()
    scores.add_up(distributed.all_reduce)
    return scores.class_attention_scores() if class_balanced else scores.attention_scores()


def frequency_keyword_scores(
    tokenizer: Any,
    train: Encoded,
    labels: npt.NDArray[np.int64],
    n_classes: int,
    *,
    class_balanced: bool = False,
) -> npt.NDArray[np.float64]:
    """Eq. 1 over the training documents: (V,) scores, or (C, V) for class-balanced selection."""
    counts = _counts(tokenizer, train, labels, n_classes)
    if class_balanced:
        # A class can only choose among the tokens it has.
        return np.where(counts > 0, class_frequency_scores(counts), -np.inf)
    return frequency_scores(counts)


def _counts(tokenizer: Any, train: Encoded, labels: npt.NDArray[np.int64], n_classes: int) -> npt.NDArray[np.int64]:
    documents = ((ids, int(label)) for ids, label in zip(train.input_ids, labels, strict=True))
    counts = class_token_counts(documents, n_classes, len(tokenizer))
    counts[:, sorted(content_special_ids(tokenizer))] = 0  # special tokens are no part of a document
    return counts
