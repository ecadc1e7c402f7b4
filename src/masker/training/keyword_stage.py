"""Choosing the keywords of a training set, by the scheme that the settings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from masker import distributed
from masker.config import Settings
from masker.documents.encoding import Encoded
from masker.errors import ConfigError
from masker.inference.torch_backend import visit_attention
from masker.keywords import KeywordSet
from masker.keywords.attention import AttentionScores
from masker.keywords.choice import candidate_count, excluded_tokens, select_keywords
from masker.keywords.frequency import class_token_counts
from masker.keywords.keyword_files import read_keywords
from masker.keywords.scheme import Evidence, scheme_scores
from masker.modeling.backbone import load_classifier
from masker.modeling.convolution import MODEL_TYPE
from masker.modeling.devices import reads_bf16
from masker.modeling.model_folder import load_manifest
from masker.modeling.tokens import special_ids_of
from masker.progress import progress_bar
from masker.registry import KEYWORD_SCHEMES, METHODS

Labels = npt.NDArray[np.int64]


def choose_keywords(
    settings: Settings, tokenizer: Any, train: Encoded, n_classes: int, classifier: Callable[[], Any]
) -> KeywordSet:
    """The keyword set of the training documents.

    Args:
        settings: ``settings.keywords`` names the scheme, the number, and what to exclude.
        n_classes: C; 0 for a regression.
        classifier: Returns the classifier whose attention is read, on the device it runs on; called only if needed.

    Raises:
        ConfigError: When the scheme does not fit the task, or there are fewer candidate tokens than keywords asked for.
    """
    wanted = settings.keywords
    if wanted.source not in KEYWORD_SCHEMES:
        words = distributed.first_only(lambda: read_keywords(wanted.source, tokenizer).to_json())
        return KeywordSet.from_json(words)
    if wanted.random_share is not None:
        return KeywordSet(wanted.source, (), len(tokenizer))  # any word can be one: each epoch draws them
    scheme = KEYWORD_SCHEMES.get(wanted.source)
    if scheme.compares_classes and n_classes < 2:
        raise ConfigError(f"{scheme.name} keywords compare classes and a regression has none; use --keywords attention")
    groups = max(1, n_classes)
    labels = np.zeros(len(train), dtype=np.int64)
    if n_classes and train.labels is not None and train.labels.ndim == 2:
        rows, labels = np.nonzero(train.labels)  # a document counts for each of its labels
        train = train.take(rows.tolist())
    elif n_classes and train.labels is not None:
        labels = np.asarray(train.labels, dtype=np.int64)

    def read_attention() -> AttentionScores:
        network = classifier()
        bf16 = reads_bf16(settings.training.precision, network.device)
        return attention_scores_of(network, tokenizer, train, labels, groups, bf16=bf16)

    evidence = Evidence(
        lambda: content_token_counts(tokenizer, train, labels, groups), read_attention, settings.training.seed
    )
    scores = scheme_scores(scheme, evidence, class_balanced=wanted.class_balanced)
    excluded = excluded_tokens(tokenizer, stop_words=wanted.exclude_stop_words, punctuation=wanted.exclude_punctuation)
    # Few short texts may have fewer words than that.
    count = wanted.count or min(wanted.per_class * groups, candidate_count(scores, excluded))
    return select_keywords(wanted.source, scores, count, tokenizer, excluded=excluded)


def load_attention_model(folder: str, device: torch.device) -> Any:
    """Open a trained classifier to read its attention.

    Raises:
        ConfigError: When it has no document token that attends to the words.
    """
    method = load_manifest(folder).manifest.get("settings", {}).get("training", {}).get("method")
    classifier = None if method in METHODS and not METHODS.get(method).fine_tuned else load_classifier(folder)
    if classifier is None or classifier.config.model_type == MODEL_TYPE:
        raise ConfigError(f"keywords.attention_model: '{folder}' (method {method}) has no attention; give a fine-tuned "
                          "encoder, such as one of method vanilla")  # fmt: skip
    return classifier.to(device)


def attention_scores_of(
    classifier: Any, tokenizer: Any, encoded: Encoded, labels: Labels, n_classes: int, *, bf16: bool = False
) -> AttentionScores:
    """The sums of Eq. 2 over documents, class by class.

    In a distributed run each process reads its share of the documents, and the sums are added up.
    """
    scores = AttentionScores(n_classes, len(tokenizer))
    if distributed.world_size() > 1:
        own = np.arange(distributed.rank(), len(encoded), distributed.world_size())
        encoded, labels = encoded.take(own.tolist()), labels[own]
    class_of = torch.from_numpy(labels)

    def visit(token_ids: torch.Tensor, attention: torch.Tensor, content: torch.Tensor, rows: Labels) -> None:
        scores.update(token_ids, attention, content, class_of[rows])

    with progress_bar(len(encoded), "attention keywords", "doc") as bar:
        visit_attention(classifier, tokenizer, encoded, visit, bar.update, bf16=bf16)
    scores.add_up(distributed.all_reduce)
    return scores


def content_token_counts(tokenizer: Any, encoded: Encoded, labels: Labels, n_classes: int) -> Labels:
    """(C, V) occurrences of each token in the documents of each class, special tokens left out."""
    documents = ((ids, int(label)) for ids, label in zip(encoded.input_ids, labels, strict=True))
    counts = class_token_counts(documents, n_classes, len(tokenizer))
    counts[:, sorted(special_ids_of(tokenizer))] = 0
    return counts
