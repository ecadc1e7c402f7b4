"""What a training decided for the user, and why: one line each, for ``--plan``, the summary and ``masker.json``."""

from __future__ import annotations

import numpy as np

from masker.inference.windows import document_labels
from masker.registry import METHODS
from masker.training.run import TrainingRun
from masker.training.schedule import EPOCHS, LEAST_STEPS, final_schedule, frozen_layers, keyword_schedule


def decisions_of(run: TrainingRun) -> dict[str, str]:
    """The decisions of a run, by what they are about."""
    settings = run.settings
    method = METHODS.get(settings.training.method)
    found = {"documents": _documents(run)}
    if method.fine_tuned and not settings.is_convolutional:
        found["pooling"] = f"{run.pooling.name} ({run.pooling.reason})"
    if method.fine_tuned:
        found["training"] = _training(run)
    if method.keywords:
        found["keywords"] = _keywords(run)
    found["held out"] = _held_out(run)
    if run.kept_probe:
        found["kept"] = "the logistic regression: training lost more held-out documents than it won"
    return found


def _documents(run: TrainingRun) -> str:
    data = run.data
    parts = [data.train, data.validation, *([] if data.calibration is None else [data.calibration])]
    tokens = np.concatenate([part.lengths for part in parts if len(part)])
    text = f"{sum(part.n_documents for part in parts)} with {np.median(tokens):.0f} tokens (median)"
    if not run.classes:
        return text
    labels = np.concatenate([document_labels(part) for part in parts if len(part)])
    if labels.ndim == 2:
        sizes, none = labels.sum(axis=0), int((labels.sum(axis=1) == 0).sum())
        several = f"{labels.sum() / len(labels):.3g} to a document" + (f", {none} documents without" if none else "")
        return f"{text}, {len(run.classes)} labels of {sizes.min()} to {sizes.max()} ({several})"
    sizes = np.bincount(labels)
    return f"{text}, {len(run.classes)} classes of {sizes.min()} to {sizes.max()}"


def _training(run: TrainingRun) -> str:
    settings, data, new_head = run.settings, run.data, bool(run.has_new_head)
    documents = len(data.train if data.folds is None else data.without_fold(0).train)
    schedule = final_schedule(settings, documents, cross_fitted=data.folds is not None, new_head=new_head)
    size = min(settings.training.batch_size, documents)
    if schedule.steps is None:
        why = "as set" if settings.training.epochs is not None else "for a new head"
        length = f"{schedule.epochs} epochs in batches of {size} ({why})"
    else:
        passes = schedule.steps * size / documents
        why = _why_so_long(schedule.steps, passes, new_head=new_head, averaged=data.folds is not None)
        length = f"{schedule.steps} steps of {size} documents, {passes:.3g} passes ({why})"
    frozen = frozen_layers(settings, documents, run.layers, new_head=new_head)
    fixed = [f"{frozen} lowest layers"] if frozen else []
    fixed += ["embeddings"] if settings.training.embedding_lr_scale == 0.0 else []
    return f"{_start(run)}; {length}{'; not trained: ' + ' and '.join(fixed) if fixed else ''}"


def _why_so_long(steps: int, passes: float, *, new_head: bool, averaged: bool) -> str:
    if averaged:
        return "for each of the networks that are averaged"
    if new_head:
        return "for a new head"
    if steps == LEAST_STEPS:
        return "the least that trains the encoder"
    return "each three times" if passes > EPOCHS - 0.1 else "enough for so many"


def _start(run: TrainingRun) -> str:
    """What the head starts from."""
    if not run.settings.starts_from_probe:
        return "new head"
    if run.has_new_head is None:
        return "head from a logistic regression, or a new one, trained longer, if that turns out to be weak"
    if run.has_new_head:
        share = 100 * run.probes.information()
        return f"new head (a logistic regression explains {share:.0f} % of held-out labels, which is too little)"
    return "head from a logistic regression"


def _keywords(run: TrainingRun) -> str:
    source = run.settings.keywords.source
    schedule = keyword_schedule(run.settings, len(run.data.train), new_head=bool(run.has_new_head))
    if source != "attention" or run.settings.keywords.attention_model is not None:
        return source
    length = f"{schedule.epochs} epochs" if schedule.steps is None else f"{schedule.steps} steps"
    return f"attention after {length} without regularizer"


def _held_out(run: TrainingRun) -> str:
    data = run.data
    if data.folds is not None:
        text = f"none: cross-fitted in {int(data.folds.max()) + 1} folds, every document trains and calibrates"
        labels = document_labels(data.train)
        alone = 0 if labels.ndim == 2 else int((np.bincount(labels) == 1).sum())
        return f"{text}; {alone} without another of its class only train" if alone else text
    validation = data.validation.n_documents
    if not validation:
        return "none: all documents train, the last weights are kept, and 'masker calibrate' sets the threshold"
    if data.calibration is None:
        return f"{validation} documents, which choose and calibrate"
    return (
        f"{validation} documents to choose the score, {data.calibration.n_documents} others to calibrate the rejection"
    )
