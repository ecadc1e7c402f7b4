"""Settings translated to transformers' TrainingArguments."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import TrainingArguments

from masker import distributed
from masker.config import Settings
from masker.errors import ConfigError
from masker.modeling.devices import training_precision

if TYPE_CHECKING:
    from masker.training.training_stage import TrainingStage


#: Steps between two checkpoints, where the number of documents decides how long to train.
CHECKPOINT_STEPS = 50
#: Checkpoints that such a training chooses the best of, if it does not average.
CHECKPOINTS_TO_CHOOSE_FROM = 4


def training_arguments(
    settings: Settings, stage: TrainingStage, folder: Path, device: torch.device
) -> TrainingArguments:
    """The Trainer's arguments for a stage.

    Averaged weights keep a constant learning rate: averaging replaces its decay, and a constant rate gets further in
    as many steps. Where nothing is held out there is no best checkpoint, and the last one is the result.

    Raises:
        ConfigError: When an integration to report to is not installed.
    """
    training, averaged = settings.training, stage.averaged_share > 0
    chosen = not averaged and settings.data.validation_fraction > 0
    constant = averaged if training.lr_schedule == "auto" else training.lr_schedule == "constant"
    _check_reporting(training.report_to)
    _select_device(device)
    precision = training_precision(training.precision, device)
    arguments = TrainingArguments(
        output_dir=str(folder),
        **_length(stage, chosen=chosen),
        per_device_train_batch_size=-(-training.batch_size // distributed.world_size()),
        gradient_accumulation_steps=training.gradient_accumulation,
        learning_rate=training.learning_rate,
        lr_scheduler_type="constant_with_warmup" if constant else "linear",
        weight_decay=training.weight_decay,
        max_grad_norm=training.max_grad_norm,
        warmup_steps=training.warmup_fraction if training.warmup_fraction < 1 else 0.999,
        optim="adamw_torch_fused",
        bf16=precision == "bf16",
        fp16=precision == "fp16",
        use_cpu=device.type == "cpu",
        seed=training.seed,
        # The newest checkpoint to resume from, and the best one so far.
        save_total_limit=2,
        load_best_model_at_end=chosen,
        metric_for_best_model="selection",
        greater_is_better=True,
        logging_steps=training.logging_steps,
        report_to=training.report_to or "none",
        disable_tqdm=True,
        remove_unused_columns=False,
        label_names=["labels"],
        log_level="error",
    )
    # One process drives one device. On several the Trainer would split batches, and documents from their views.
    arguments._n_gpu = min(1, arguments.n_gpu)
    if distributed.world_size() == 1 and device.type == "cuda" and device.index is not None:
        # Left to itself it takes cuda:0, whichever device accelerate was told to take.
        torch.cuda.set_device(device)
        vars(arguments)["_setup_devices"] = device
    return arguments


def _length(stage: TrainingStage, *, chosen: bool) -> dict[str, Any]:
    """How long to train, and when to evaluate and save a checkpoint; ``chosen`` is whether the best one is taken."""
    steps = stage.schedule.steps
    evaluation = "epoch" if chosen else "no"
    if steps is None:
        return {"num_train_epochs": stage.schedule.epochs, "eval_strategy": evaluation, "save_strategy": "epoch"}
    if not chosen:  # a short training is not worth a checkpoint
        return {"max_steps": steps, "eval_strategy": "no", "save_strategy": "steps", "save_steps": CHECKPOINT_STEPS}
    every = max(1, steps // CHECKPOINTS_TO_CHOOSE_FROM)
    often: dict[str, Any] = {"eval_strategy": "steps", "eval_steps": every, "save_strategy": "steps"}
    return {"max_steps": steps, "save_steps": every, **often}


def _select_device(device: torch.device) -> None:
    """Tell accelerate which device to take; in a distributed run each process takes the one of its local rank."""
    if distributed.world_size() == 1 and device.type != "cpu":
        os.environ["ACCELERATE_TORCH_DEVICE"] = str(device)
    else:
        os.environ.pop("ACCELERATE_TORCH_DEVICE", None)


def _check_reporting(names: list[str]) -> None:
    from transformers.integrations import get_available_reporting_integrations

    available = get_available_reporting_integrations()
    for name in names:
        if name not in available:
            raise ConfigError(
                f"training.report_to: '{name}' is not installed; available: {', '.join(available) or 'none'}. "
                f"Install it with pip, or leave it out"
            )
