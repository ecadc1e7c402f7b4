"""The biased model of a residual ensemble, which sees nothing of a document but its keywords."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file

from masker import distributed
from masker.inference.torch_backend import TorchBackend
from masker.keywords import KeywordSet
from masker.modeling.tensors import write_tensors
from masker.modeling.tokens import special_ids_of
from masker.training.schedule import final_schedule
from masker.training.training_stage import TrainingStage

if TYPE_CHECKING:
    from masker.training.run import TrainingRun

_log = logging.getLogger("masker")


def train_biased_model(run: TrainingRun, keywords: KeywordSet) -> npt.NDArray[np.float32]:
    """(N, C) outputs of a model that is trained on documents reduced to their keywords; kept in the work folder.

    Raises:
        DataError: When it is to be trained on documents that contain keywords, and none does.
    """
    path = run.work / "bias.safetensors"
    if distributed.first_only(path.is_file):
        stored: npt.NDArray[np.float32] = load_file(path)["logits"].numpy()
        return stored
    reduced = run.data.reduced_to(keywords, sorted(special_ids_of(run.tokenizer)))
    subset = reduced
    if run.settings.baselines.residual_documents == "with-keywords":
        subset = reduced.containing(keywords)
    stage = TrainingStage("biased", final_schedule(run.settings, len(subset.train)))
    biased = run.train_classifier(stage, run.initial_classifier(subset.train), subset)
    for name, value in run.validation.items():
        _log.info("keywords alone reach a validation %s of %.3f", name, value)
    logits = TorchBackend(biased.classifier, run.tokenizer, str(run.device)).predict_logits(reduced.train)
    # All processes of a distributed run have the same logits.
    distributed.first_only(lambda: write_tensors({"logits": torch.from_numpy(logits)}, path))
    return logits
