"""Settings that go together: training as in the paper (appendix "Training Details")."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from masker.registry import METHODS

Layer = dict[str, dict[str, Any]]

#: The paper chooses among these; a preset starts from the last rate and the first size, ``masker reproduce --grid``
#: searches.
LEARNING_RATES = (1e-5, 2e-5, 5e-5)
BATCH_SIZES = (16, 32)
#: Training as in the paper, where a default of ours differs: all documents train, Adam at one constant rate. The paper
#: halves that rate for MASKER's "embedding layers", and calls the encoder the "embedding network".
PAPER_TRAINING: Layer = {
    "data": {"validation_fraction": 0.0},
    "model": {"pooling": "document-token"},
    "masking": {"context": "mask", "view_share": 1.0},
    "training": {
        "averaged_share": 0.0,
        "head_start": "new",
        "batch_size": BATCH_SIZES[0],
        "learning_rate": LEARNING_RATES[-1],
        "head_lr_scale": 1.0,
        "embedding_lr_scale": 0.5,
        "embedding_layers": "encoder",
        "frozen_layers": 0,
        "lr_schedule": "constant",
        "weight_decay": 0.0,
        "warmup_fraction": 0.0,
        "max_grad_norm": 0.0,
    },
    "detection": {"calibration": "split"},
    "baselines": {"residual_documents": "with-keywords"},
}
#: And the paper's regularizer weights for its two kinds of task (section "Experimental setup").
PRESETS: dict[str, Layer] = {
    "ood": {"loss": {"lambda_mkr": 1e-3, "lambda_mer": 1e-3}, **PAPER_TRAINING},
    "cross-domain": {"loss": {"lambda_mkr": 1e-3, "lambda_mer": 1e-4}, **PAPER_TRAINING},
}
#: RoBERTa's epochs, vanilla and with MASKER; other encoders have the package's (3 and 6).
ROBERTA_EPOCHS = (10, 12)
#: Reconstruction of random words: the share of masked words is that of the authors' code.
RANDOM_SHARE = 0.15
RANDOM_BATCH_SIZE = 4
#: The paper does not say how it trains DOC's convolution. It learns from scratch, so at Adam's usual 1e-3.
_CONVOLUTION_LR_SCALE = 20.0
#: In what a preset differs from the paper; a user is told beside the plan, the result, and the table of a recipe.
STILL_DIFFERENT = (
    "rate and batch size are one of its choices; masker reproduce --grid searches",
    "nothing is held out, so there is no threshold until masker calibrate sets one",
    "epochs are the lower ends of its ranges, and not 'until convergence'",
    "the keyword model has MASKER's own head, not a multi-class one",
    "256 tokens of a text are read unless model.max_length says otherwise",
    "baselines where it says little: docs/systems.md; the whole list: docs/equations.md, 'Where we differ'",
)
#: Parts of names by which encoders of RoBERTa's family are known.
_ROBERTA_NAMES = ("roberta", "granite-30m", "granite-embedding-30m", "granite-embedding-125m")


def preset_layer(name: str, given: Layer) -> Layer:
    """The settings of a preset, which depend on what else is ``given``: method, encoder and keywords."""
    layer = copy.deepcopy(PRESETS[name])
    sections = {key: value if isinstance(value, dict) else {} for key, value in given.items()}
    training, model, keywords = (sections.get(key, {}) for key in ("training", "model", "keywords"))
    method = training.get("method", "masker")
    convolutional = method == "doc" or sections.get("baselines", {}).get("openmax_network") == "convolution"
    if method in METHODS and METHODS.get(method).own_score is None:
        layer["detection"]["score"] = "max-prob"
    if method == "residual":  # "1-vs-rest is complementary to MASKER"
        layer["model"]["head"] = "multi-class"
    if convolutional:
        layer["training"]["head_lr_scale"] = _CONVOLUTION_LR_SCALE
    elif "epochs" not in training and is_roberta(str(model.get("backbone", ""))):
        vanilla, masker = ROBERTA_EPOCHS
        layer["training"]["epochs"] = masker if method == "masker" else vanilla
        layer["keywords"] = {"attention_epochs": vanilla}
    if keywords.get("source") == "random" and method == "masker":
        layer["keywords"] = {**layer.get("keywords", {}), "random_share": RANDOM_SHARE}
        if sections.get("loss", {}).get("lambda_mkr", 1.0):
            layer["training"]["batch_size"] = RANDOM_BATCH_SIZE
    return layer


def is_roberta(backbone: str) -> bool:
    """Whether an encoder is of RoBERTa's family, by the type in its folder, or else by its name."""
    if not backbone:
        return False
    with suppress(OSError, ValueError, AttributeError):
        config = json.loads((Path(backbone).expanduser() / "config.json").read_text(encoding="utf-8"))
        return "roberta" in str(config.get("model_type", "")).lower()
    return any(name in backbone.lower() for name in _ROBERTA_NAMES)
