"""What a stage will take, before it has run: a rough model for two CPU cores.

Milliseconds are those of the embedded backbone for a document of 64 tokens; they grow with the tokens of a document and
with the size of the encoder. :mod:`masker.experiments.stage_progress` corrects the model while it runs by what
finished stages of the same kind really took.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from masker.config import Settings
from masker.experiments.recipe import RelianceOptions

TOKENS = 64
#: A document of an epoch of vanilla training, and each masked view beside it.
DOCUMENT_MS = 17.0
VIEW_MS = 14.5
#: What is left of a document when its context is dropped, about.
DROPPED_SHARE = 0.4
#: A residual ensemble also asks its frozen biased model, and trains that one on part of the documents first.
RESIDUAL_MS = 27.0
#: A convolutional network, or a support vector machine over bags of words.
SHALLOW_MS = 2.0
#: A document that is classified, or whose attention is read.
SCORE_MS = 5.0
#: Opening an encoder; writing a checkpoint, once an epoch.
OPEN_S = 3.0
CHECKPOINT_S = 1.5
#: A base-size encoder has about eight times the weights in its layers that the embedded one has.
BASE_SIZE = 8.0
#: Placing a thousand embeddings in the plane.
TSNE_S = 15.0
#: Texts that an audit makes of a document, about: its views, and one text for each of its keywords.
AUDIT_TEXTS = 15.0

#: Tokens of a typical document of each corpus.
TYPICAL_TOKENS = {
    "20newsgroups": 620,
    "amazon24": 150,
    "amazon50": 150,
    "reuters": 170,
    "imdb": 305,
    "sst2": 20,
    "finefood": 100,
    "grocery": 120,
    "mnli": 43,
    "stsb": 19,
}
#: Documents in the training and the test part, where a scale takes them all.
TYPICAL_ROWS = {
    "20newsgroups": (11314, 7532),
    "amazon24": (33535, 14373),
    "amazon50": (35000, 15000),
    "reuters": (7770, 3019),
    "imdb": (25000, 25000),
    "sst2": (67349, 872),
    "finefood": (397_900, 170_500),
    "grocery": (3748, 999),
    "mnli": (83_000, 2000),
    "stsb": (1000, 250),
}
_DEFAULT_TOKENS = 128
_DEFAULT_ROWS = (10_000, 3_000)


def rows_of(parts: Sequence[dict[str, Any]]) -> int:
    """How many documents planned selections have, about."""
    total = 0
    for part in parts:
        train, test = TYPICAL_ROWS.get(part["corpus"], _DEFAULT_ROWS)
        rows = float(sum(train if split == "train" else test for split in part["split"]))
        ratio = part["class_ratio"]
        if ratio is not None:
            rows *= ratio if part["classes"] == "seen" else 1.0 - ratio
        total += int(rows) if part["documents"] is None else min(int(rows), part["documents"])
    return total


def training_seconds(data: dict[str, Any], settings: Settings) -> float:
    """Training on one planned selection."""
    documents = rows_of([data]) * (1.0 - settings.data.validation_fraction)
    method = str(settings.training.method)
    if method == "linear":
        return OPEN_S + documents * SCORE_MS * _scale([data], settings) / 1000
    if method in ("ocsvm", "doc", "openmax"):
        return OPEN_S + documents * SHALLOW_MS * _scale([data], settings, encoder=False) / 1000
    cost = DOCUMENT_MS
    if method == "residual":
        cost = RESIDUAL_MS
    elif method == "masker":
        regression = settings.model.head == "regression"
        context = DROPPED_SHARE if settings.masking.context == "drop" else 1.0
        cost += VIEW_MS * (settings.loss.lambda_mkr > 0)
        cost += VIEW_MS * context * (settings.loss.lambda_mer > 0 and not regression)
    per_epoch = documents * cost * _scale([data], settings) / 1000 + CHECKPOINT_S
    return OPEN_S + settings.epochs * per_epoch


def scoring_seconds(sets: Sequence[Sequence[dict[str, Any]]], settings: Settings) -> float:
    """Classifying every document of several test sets, or reading its attention."""
    shallow = str(settings.training.method) in ("ocsvm", "doc", "openmax")
    return (
        OPEN_S + sum(rows_of(parts) * SCORE_MS * _scale(parts, settings, encoder=not shallow) for parts in sets) / 1000
    )


def audit_seconds(parts: Sequence[dict[str, Any]], settings: Settings, options: RelianceOptions) -> float:
    """Auditing a model on a test set, once for every kind of keywords and every masking."""
    documents = min(rows_of(parts), options.documents) * len(options.keywords) * len(options.masking)
    return OPEN_S + documents * AUDIT_TEXTS * SCORE_MS * _scale(parts, settings) / 1000


def _scale(parts: Sequence[dict[str, Any]], settings: Settings, *, encoder: bool = True) -> float:
    lengths = [TYPICAL_TOKENS.get(part["corpus"], _DEFAULT_TOKENS) for part in parts]
    tokens = min(sum(lengths) / len(lengths), settings.model.max_length)
    size = BASE_SIZE if encoder and settings.model.backbone != "minilm" else 1.0
    return tokens / TOKENS * size
