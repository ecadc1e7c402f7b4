"""The paper's choice of learning rate and batch size: six trainings, and the best on documents of the training data.

It is made once for each training corpus, encoder and system, on the documents and with the seed of the first trial. A
tenth of them, drawn with that seed, is left out of the six trainings and compares them; no test document is read. Of
equally many right answers the lower loss wins, then the pair that the presets start from.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from masker.config import Settings
from masker.documents import Documents
from masker.documents.splits import validation_split
from masker.documents.texts import texts_of
from masker.errors import DataError
from masker.files import write_json
from masker.labels import class_indices
from masker.losses.document_loss import classification_loss
from masker.metrics import pearson
from masker.model import Model
from masker.presets import BATCH_SIZES, LEARNING_RATES
from masker.registry import METHODS

#: The settings that are searched; a stage behind a search does not name them.
SEARCHED = ("learning_rate", "batch_size")
GRID_SEED = 0
LEFT_OUT = 0.1

Pair = dict[str, Any]


def is_searched(settings: Settings) -> bool:
    """Whether the paper's search applies: to fine-tuned encoders."""
    return bool(METHODS.get(settings.training.method).fine_tuned) and not settings.is_convolutional


def grid_pairs(settings: Settings) -> list[Pair]:
    """The pairs to compare, the presets' first. A batch size that is none of the paper's choices stays."""
    own = settings.training.batch_size
    sizes = BATCH_SIZES if own in BATCH_SIZES else (own,)
    return [{"learning_rate": rate, "batch_size": size} for rate in reversed(LEARNING_RATES) for size in sizes]


def with_pair(settings: Settings, pair: Pair) -> Settings:
    """Settings with a learning rate and a batch size."""
    return settings.model_copy(update={"training": settings.training.model_copy(update=pair)})


def search_grid(documents: Documents, settings: Settings, pairs: list[Pair], work: Path, device: str) -> dict[str, Any]:
    """Train with each pair and compare them; finished ones are read back from ``work``.

    Returns:
        ``chosen``, the best pair, and ``tried``: each pair with the figures that decide.
    """
    assert documents.labels is not None
    rows, left_out = validation_split(documents.labels, LEFT_OUT, GRID_SEED)
    if not left_out:
        raise DataError(f"{documents.name}: --grid needs at least two documents of some class")
    train, compare = documents.take(rows), documents.take(left_out)
    path = work / "tried.json"
    tried: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    for pair in pairs[len(tried) :]:
        folder = work / "training"
        model = Model.fit(train, with_pair(settings, pair), folder, device=device)
        tried.append({**pair, **_figures(model, compare)})
        # The figures first: a training that is done again does no harm, a figure that is missing would.
        write_json(path, tried)
        shutil.rmtree(folder)
    best = max(tried, key=lambda one: (one["figure"], -one["loss"]))
    return {"chosen": {name: best[name] for name in SEARCHED}, "tried": tried, "compared_on": len(compare)}


def _figures(model: Model, documents: Documents) -> dict[str, float]:
    """The right answers (for a regression, the correlation) and the mean loss."""
    logits, labels = model.outputs(texts_of(documents)).logits, documents.labels or []
    values: npt.NDArray[Any]
    if model.is_regression:
        values = np.array(labels, dtype=np.float32)
        figure = pearson(values, logits[:, 0])
    else:
        values = class_indices(labels, model.classes)
        figure = float((logits.argmax(axis=1) == values).sum())
    losses = classification_loss(torch.from_numpy(logits), torch.from_numpy(values), model.settings.model.head)
    return {"figure": float(figure), "loss": losses.double().mean().item()}
