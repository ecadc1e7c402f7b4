"""Our settings in the words of the Trainer of transformers."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import TrainingArguments

from masker import distributed
from masker.config import Settings
from masker.errors import ConfigError
from masker.modeling.devices import use_bf16


def training_arguments(settings: Settings, folder: Path, epochs: int, *, averaged: bool = False) -> TrainingArguments:
    """The arguments of a stage.

    Args:
        settings: All settings.
        folder: Where checkpoints go.
        epochs: Of this stage.
        averaged: Whether the mean over many steps is the result. It makes up for a learning rate that stays as it is,
            and such a rate goes further in as many steps.

    Raises:
        ConfigError: When a place to report to is not installed.
    """
    training = settings.training
    _check_reporting(training.report_to)
    arguments = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=epochs,
        per_device_train_batch_size=-(-training.batch_size // distributed.world_size()),
        gradient_accumulation_steps=training.gradient_accumulation,
        learning_rate=training.learning_rate,
        lr_scheduler_type="constant_with_warmup" if averaged else "linear",
        weight_decay=training.weight_decay,
        max_grad_norm=training.max_grad_norm,
        warmup_steps=training.warmup_fraction if training.warmup_fraction < 1 else 0.999,
        optim="adamw_torch_fused",
        bf16=use_bf16(training.precision),
        # bf16 without an accelerator is refused unless the CPU is asked for by name.
        use_cpu=not torch.accelerator.is_available(),
        seed=training.seed,
        eval_strategy="epoch",
        save_strategy="epoch",
        # The newest checkpoint for resuming and the best one so far.
        save_total_limit=2,
        load_best_model_at_end=not averaged,
        metric_for_best_model="selection",
        greater_is_better=True,
        logging_steps=training.logging_steps,
        report_to=training.report_to or "none",
        disable_tqdm=True,
        remove_unused_columns=False,
        label_names=["labels"],
        log_level="error",
    )
    # One process drives one device. The Trainer would cut batches over all it sees, and documents from their views.
    arguments._n_gpu = min(1, arguments.n_gpu)
    return arguments


def _check_reporting(names: list[str]) -> None:
    from transformers.integrations import get_available_reporting_integrations

    available = get_available_reporting_integrations()
    for name in names:
        if name not in available:
            raise ConfigError(
                f"training.report_to: '{name}' is not installed here; available: {', '.join(available) or 'none'}. "
                f"Install it with pip, or leave it out"
            )
