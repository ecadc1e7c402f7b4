"""One stage of a training run: a network trained to its end, its result kept in the work folder.

A stage that was interrupted resumes from its last complete checkpoint and ends with the same weights; one that is
finished is read back. In a distributed run all processes go through the stages side by side, and the first one alone
reads and writes the files.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file

from masker import distributed
from masker.config import Settings
from masker.errors import ConfigError
from masker.files import write_json
from masker.inference.document_attention import document_attention
from masker.keywords import KeywordSet
from masker.masking.collator import Collator, Views
from masker.modeling.network import MaskerNetwork, encoder_stack
from masker.modeling.tensors import write_tensors
from masker.modeling.tokens import special_ids_of
from masker.training.fast_dropout import fast_dropout_in
from masker.training.kept_memory import kept_memory
from masker.training.loss_curve import CURVE_FILE, Curve
from masker.training.resume import checkpoint_step, last_complete_checkpoint
from masker.training.schedule import Schedule, frozen_layers
from masker.training.trainer import MaskerTrainer
from masker.training.training_data import TrainingData
from masker.training.validation_metric import metric_name

_log = logging.getLogger("masker")

_RESULT = "result.safetensors"


@dataclass(frozen=True)
class TrainingStage:
    """What a stage trains.

    Attributes:
        name: The name of its folder and progress bar.
        schedule: How long it trains.
        keywords: Those of the masked views; ``None`` trains on the documents alone.
        bias_logits: (N, C) outputs of a biased model, for a residual ensemble.
        averaged_share: The result is the mean of the weights over this last share of the steps; 0 takes the best
            checkpoint, or the last one if nothing is held out.
        attention_term: Whether attention is made uniform (:mod:`masker.losses.uniform_attention`).
        new_head: Whether the head starts at random; then no layer of the encoder is frozen by default.
    """

    name: str
    schedule: Schedule
    keywords: KeywordSet | None = None
    bias_logits: npt.NDArray[np.float32] | None = None
    averaged_share: float = 0.0
    attention_term: bool = False
    new_head: bool = False


def train_stage(
    stage: TrainingStage,
    classifier: Any,
    tokenizer: Any,
    data: TrainingData,
    settings: Settings,
    folder: Path,
    device: torch.device,
) -> tuple[MaskerNetwork, dict[str, float]]:
    """Train a classifier in place, or read back what the stage has left in ``folder``.

    Returns:
        The network, and its accuracy (or micro F1, or Pearson correlation) on the validation documents.
    """
    views = make_views(settings, stage.keywords, tokenizer)
    reconstruct = views is not None and views.keyword_view and settings.loss.keyword_view == "reconstruct"
    network = MaskerNetwork(
        classifier, len(stage.keywords.target_ids) if reconstruct and stage.keywords is not None else 0
    )
    network.freeze(
        embeddings=settings.training.embedding_lr_scale == 0.0,
        layers=frozen_layers(settings, len(data.train), len(encoder_stack(classifier)), new_head=stage.new_head),
    )
    start = distributed.first_only(lambda: _open_stage(folder))
    trainer = MaskerTrainer(
        network,
        settings,
        stage,
        folder,
        data,
        Collator(tokenizer.pad_token_id, sorted(special_ids_of(tokenizer)), views, stage.bias_logits),
        device,
    )
    if start == _RESULT:
        network.load_state_dict(load_file(folder / _RESULT))
    else:
        if start is not None:
            _log.info("resuming %s from %s", stage.name, start)
        _seed_dropout(settings)
        with (
            fast_dropout_in(network.classifier),
            kept_memory(),
            _attention_read(network, stage),
            closing(trainer.progress),
        ):
            trainer.train(resume_from_checkpoint=None if start is None else str(folder / start))
        distributed.barrier()  # some may still be reading the best checkpoint
        distributed.first_only(lambda: _close_stage(folder, network, trainer.losses.means()))
    network.eval()
    if not len(data.validation):
        return network, {}
    name = metric_name(settings.model.head)
    return network, {name: float(trainer.evaluate()[f"eval_{name}"])}


def make_views(settings: Settings, keywords: KeywordSet | None, tokenizer: Any) -> Views | None:
    """The masked views that the active loss terms need; ``None`` is plain fine-tuning."""
    keyword_view = settings.loss.lambda_mkr > 0
    # A uniform distribution over classes means nothing for a regression: there the paper uses MKR alone.
    context_view = settings.loss.lambda_mer > 0 and settings.model.head != "regression"
    # Documents without a word that the tokenizer knows have no keyword to mask or to reconstruct.
    if keywords is None or not len(keywords.target_ids) or not (keyword_view or context_view):
        return None
    return Views(
        keywords=keywords,
        mask_id=tokenizer.mask_token_id,
        keyword_mask_prob=settings.masking.keyword_mask_prob,
        context_mask_prob=settings.masking.context_mask_prob,
        seed=settings.training.seed,
        keyword_view=keyword_view,
        context_view=context_view,
        context=settings.masking.context,
        share=settings.masking.view_share,
        random_share=settings.keywords.random_share,
    )


def _open_stage(folder: Path) -> str | None:
    """The name of what a stage starts from: its result, its newest complete checkpoint, or nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / _RESULT).is_file():
        return _RESULT
    checkpoint = last_complete_checkpoint(folder)
    for leftover in folder.glob("checkpoint-*"):
        if checkpoint is None or checkpoint_step(leftover) > checkpoint_step(checkpoint):
            shutil.rmtree(leftover)
    return None if checkpoint is None else checkpoint.name


def _close_stage(folder: Path, network: MaskerNetwork, losses: Curve) -> None:
    write_json(folder / CURVE_FILE, losses)
    write_tensors(network.state_dict(), folder / _RESULT)
    for leftover in folder.glob("checkpoint-*"):
        shutil.rmtree(leftover)


@contextmanager
def _attention_read(network: MaskerNetwork, stage: TrainingStage) -> Iterator[None]:
    """While inside, the network tells its document attention, if the stage regularizes it.

    Raises:
        ConfigError: When the first pass shows none.
    """
    if not stage.attention_term:
        yield
        return

    with document_attention(network.classifier, to_the_end=True) as capture:

        def read() -> torch.Tensor:
            row = capture.take()
            if row is None:
                raise ConfigError("loss.lambda_attention: this network does not show its attention; leave it at 0")
            return row

        network.read_attention = read
        try:
            yield
        finally:
            network.read_attention = None


def _seed_dropout(settings: Settings) -> None:
    """All processes have made the same weights; from here on each draws dropout masks of its own."""
    if not distributed.is_first():
        sequence = np.random.SeedSequence([settings.training.seed, distributed.rank()])
        torch.manual_seed(int(sequence.generate_state(1, np.uint64)[0]) >> 1)
