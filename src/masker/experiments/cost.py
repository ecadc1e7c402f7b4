"""How long a stage will take, before it has run: a rough model, measured on :data:`MEASURED_ON`.

Milliseconds are those of the embedded backbone for a document of 64 tokens; they grow with the tokens of a document and
with the size of the encoder. On other hardware only the proportions hold: there is no estimate until the first stages
have finished, whose duration then corrects the rest (:mod:`masker.experiments.stage_progress`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from masker.config import Settings
from masker.experiments.recipe_parts import RelianceOptions, Scale
from masker.modeling.embedded import EMBEDDED
from masker.registry import METHODS
from masker.training.cross_fitting import FOLDS, uses_cross_fitting
from masker.training.schedule import final_schedule

#: The hardware of the measurements, as scales name it.
MEASURED_ON = "2 CPU cores"

TOKENS = 64
#: One document of one epoch of vanilla training, and each additional masked view.
DOCUMENT_MS = 17.0
VIEW_MS = 14.5
#: About what is left of a document when its context is dropped.
DROPPED_SHARE = 0.4
#: A residual ensemble also runs its frozen biased model, which is trained on part of the documents first.
RESIDUAL_MS = 27.0
#: A convolutional network, or a support vector machine over bags of words.
SHALLOW_MS = 2.0
#: Classifying a document, or reading its attention.
SCORE_MS = 5.0
#: Opening an encoder; writing a checkpoint, once an epoch.
OPEN_S = 3.0
CHECKPOINT_S = 1.5
#: Layers and width of a base-size encoder, eight times the weights of the embedded default's layers.
BASE_SIZE = (12, 768)
#: t-SNE of a thousand embeddings.
TSNE_S = 15.0
#: About how many texts an audit makes of a document: its views, and one text for each of its keywords.
AUDIT_TEXTS = 15.0
#: Groups among a thousand texts; a model extended by some hundred.
GROUP_S = 3.0
EXTEND_S = 5.0

#: For each corpus: tokens of a typical document; documents in the training and in the test part, for a scale that takes
#: all of them.
TYPICAL_SIZES = {
    "20newsgroups": (620, 11314, 7532),
    "amazon24": (150, 33535, 14373),
    "amazon50": (150, 35000, 15000),
    "reuters": (170, 7770, 3019),
    "imdb": (305, 25000, 25000),
    "sst2": (20, 67349, 872),
    "finefood": (100, 397_900, 170_500),
    "grocery": (120, 3748, 999),
    "mnli": (43, 83_000, 2000),
    "stsb": (19, 1000, 250),
    "hwu64": (10, 8954, 1076),
    "atis": (14, 4478, 893),
    "snips": (12, 13084, 700),
    "banking77": (15, 10003, 3080),
    "hint3-curekart": (9, 599, 459),
    "hint3-powerplay11": (8, 471, 309),
    "hint3-sofmattress": (7, 328, 253),
}
#: Classes of corpora that recipes take some documents of each class from.
CLASS_COUNTS = {"hwu64": 64, "atis": 21, "snips": 7, "banking77": 77}
_DEFAULT_CLASSES = 20
_DEFAULT_SIZES = (128, 10_000, 3_000)


def unmeasured_hardware(scales: Iterable[Scale]) -> list[str]:
    """The hardware among that of these scales that nothing was measured on, so that there is no estimate for it."""
    return [hardware for hardware in dict.fromkeys(scale.hardware for scale in scales) if hardware != MEASURED_ON]


def has_encoder(settings: Settings) -> bool:
    """Whether documents pass through a pretrained encoder; DOC's convolution and TF-IDF vectors need none."""
    tf_idf = settings.training.method == "ocsvm" and settings.baselines.ocsvm_features == "tf-idf"
    return not tf_idf and not settings.is_convolutional


def rows_of(parts: Sequence[dict[str, Any]]) -> int:
    """About how many documents planned selections have."""
    total = 0
    for part in parts:
        _, train, test = TYPICAL_SIZES.get(part["corpus"], _DEFAULT_SIZES)
        rows = float(sum(train if split == "train" else test for split in part["split"]))
        ratio = part.get("trained_on", part)["class_ratio"]
        share = 1.0 if ratio is None else 1.0 - ratio if part["classes"] == "unseen" else ratio
        rows *= share
        if part.get("per_class") is not None:
            rows = min(rows, share * CLASS_COUNTS.get(part["corpus"], _DEFAULT_CLASSES) * part["per_class"])
        total += int(rows) if part["documents"] is None else min(int(rows), part["documents"])
    return total


def training_seconds(data: dict[str, Any], settings: Settings) -> float:
    """Training on one planned selection."""
    documents = rows_of([data]) * (1.0 - settings.data.validation_fraction)
    if not has_encoder(settings):
        return OPEN_S + documents * SHALLOW_MS * _scale([data], settings) / 1000
    method = METHODS.get(settings.training.method)
    if not method.fine_tuned:
        return OPEN_S + documents * SCORE_MS * _scale([data], settings) / 1000
    cost = DOCUMENT_MS
    if method.name == "residual":
        cost = RESIDUAL_MS
    elif method.keywords:
        regression = settings.model.head == "regression"
        context = DROPPED_SHARE if settings.masking.context == "drop" else 1.0
        view = VIEW_MS * settings.masking.view_share
        cost += view * (settings.loss.lambda_mkr > 0)
        cost += view * context * (settings.loss.lambda_mer > 0 and not regression)
    each = cost * _scale([data], settings) / 1000
    if settings.epochs is not None:
        return OPEN_S + settings.epochs * (documents * each + CHECKPOINT_S)
    few = uses_cross_fitting(settings, rows_of([data]), int(rows_of([data]) * _tokens([data], settings)))
    schedule = final_schedule(settings, max(1, int(documents)), cross_fitted=few)
    assert schedule.steps is not None
    seen = schedule.steps * min(settings.training.batch_size, documents)
    return OPEN_S + (FOLDS if few else 1) * (seen * each + CHECKPOINT_S)


def scoring_seconds(sets: Sequence[Sequence[dict[str, Any]]], settings: Settings) -> float:
    """Classifying every document of several test sets, or reading its attention."""
    return OPEN_S + sum(rows_of(parts) * SCORE_MS * _scale(parts, settings) for parts in sets) / 1000


def audit_seconds(parts: Sequence[dict[str, Any]], settings: Settings, options: RelianceOptions) -> float:
    """Auditing a model on a test set, once for each kind of keywords and each masking."""
    documents = min(rows_of(parts), options.documents) * len(options.keywords) * len(options.masking)
    return OPEN_S + documents * AUDIT_TEXTS * SCORE_MS * _scale(parts, settings) / 1000


def open_world_seconds(part: str, inputs: dict[str, Any], settings: Settings) -> float:
    """A part of the analysis ``open-world``."""
    sets, options = [*inputs["tests"].values(), *inputs["ood"].values()], inputs["options"]
    once = scoring_seconds(sets, settings)
    if part == "discover":
        return GROUP_S + 2.0 * once  # the texts also pass the encoder before training
    if part == "extend":
        return EXTEND_S + 3.0 * once
    extensions = 2.0 * len(options["budgets"])
    pool = {**inputs["labelled"], "documents": options["pool"]}
    return scoring_seconds([[pool]], settings) + extensions * (EXTEND_S + GROUP_S / 2.0 + once) + once


def _scale(parts: Sequence[dict[str, Any]], settings: Settings) -> float:
    return _tokens(parts, settings) / TOKENS * (_size(settings.model.backbone) if has_encoder(settings) else 1.0)


def _tokens(parts: Sequence[dict[str, Any]], settings: Settings) -> float:
    """Of a typical document, as it is cut."""
    lengths = [TYPICAL_SIZES.get(part["corpus"], _DEFAULT_SIZES)[0] for part in parts]
    return min(sum(lengths) / len(lengths), settings.model.max_length)


def _size(backbone: str) -> float:
    """The work of an encoder's layers against those of the embedded default; an unknown one is taken for base size."""
    known, small = EMBEDDED.get(backbone), EMBEDDED["minilm"]
    layers, width = (known.layers, known.width) if known else BASE_SIZE
    return layers * width**2 / (small.layers * small.width**2)
