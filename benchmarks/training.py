"""Training: against the reference, against our own vanilla step, against the Trainer of transformers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import Row, alternate, compare
from benchmarks.reference import SlowMasker
from benchmarks.setting import BATCH, Setting, fresh_network, settings_for
from masker.config import Settings
from masker.training.fast_dropout import fast_dropout_in
from masker.training.schedule import Schedule
from masker.training.trainer import MaskerTrainer
from masker.training.training_data import TrainingData
from masker.training.training_stage import TrainingStage


class Stepper:
    """Optimiser steps of a Trainer outside its loop, so that two trainers can take turns."""

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer
        trainer.create_optimizer()
        self.model, self.optimizer = trainer.accelerator.prepare(trainer.model, trainer.optimizer)
        trainer.current_gradient_accumulation_steps = 1

    def step(self, batch: dict[str, torch.Tensor]) -> None:
        count = self.trainer._get_num_items_in_batch([batch], torch.device("cpu"))
        self.trainer.training_step(self.model, batch, count)
        self.trainer.accelerator.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.model.zero_grad()


def our_trainer(setting: Setting, settings: Settings) -> MaskerTrainer:
    masker = settings.training.method == "masker"
    network = fresh_network(setting, settings, masker)
    collator = setting.collator(settings if masker else None)
    folder = Path(tempfile.mkdtemp(prefix="masker-bench-"))
    stage = TrainingStage("bench", Schedule(epochs=1), setting.keywords if masker else None)
    data = TrainingData(setting.encoded, setting.encoded)
    return MaskerTrainer(network, settings, stage, folder, data, collator, torch.device("cpu"))


def epochs_of(stepper: Stepper, documents: int) -> Callable[[], float]:
    """A case that trains on about ``documents`` documents of the trainer's own loader."""
    loader = stepper.trainer.get_train_dataloader()
    state: dict[str, Any] = {}

    def case() -> float:
        done = 0
        while done < documents:
            batch = next(state.setdefault("batches", iter(loader)), None)
            if batch is None:
                state.pop("batches")
                continue
            if isinstance(stepper.trainer, MaskerTrainer):
                with fast_dropout_in(stepper.trainer.model.classifier):
                    stepper.step(batch)
            else:
                stepper.step(batch)
            done += len(batch["labels"])
        return done

    return case


def upstream_trainer(setting: Setting) -> Any:
    """The text-classification example of transformers: dynamic padding, float32, AdamW."""
    from transformers import DataCollatorWithPadding, Trainer, TrainingArguments

    settings = settings_for("vanilla", model={"head": "multi-class"})
    network = fresh_network(setting, settings, False)
    rows = [
        {"input_ids": ids.tolist(), "labels": int(label)}
        for ids, label in zip(setting.encoded.input_ids, setting.encoded.labels, strict=True)
    ]
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="masker-bench-"),
        per_device_train_batch_size=BATCH,
        optim="adamw_torch",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    return Trainer(
        model=network.classifier,
        args=arguments,
        train_dataset=rows,
        data_collator=DataCollatorWithPadding(setting.backbone.tokenizer),
    )


def run(setting: Setting, rounds: int) -> list[Row]:
    paper = settings_for("masker", masking={"context": "mask"})
    fast = settings_for("masker", masking={"context": "drop"})
    vanilla = settings_for("vanilla")
    steppers = {
        "masker": Stepper(our_trainer(setting, paper)),
        "fast": Stepper(our_trainer(setting, fast)),
        "vanilla": Stepper(our_trainer(setting, vanilla)),
    }
    upstream = Stepper(upstream_trainer(setting))

    reference = SlowMasker(setting, fresh_network(setting, paper, True))
    times = alternate(
        {"reference": reference.step, "masker": epochs_of(steppers["masker"], 4 * BATCH)}, max(2, rounds // 2), 0
    )
    rows = [
        compare("MASKER epoch", "reference slow path", times["reference"], times["masker"], at_least=25),
    ]

    # The same documents for every form, batch by batch, in turns.
    batches = list(steppers["vanilla"].trainer.batches)[: 2 * rounds]
    cases: dict[str, Callable[[], float]] = {}
    for name, stepper in steppers.items():
        queue = iter(batches * 2)

        def case(stepper: Stepper = stepper, queue: Any = queue) -> float:
            batch = stepper.trainer.collator([setting.encoded[row] for row in next(queue)])
            with fast_dropout_in(stepper.trainer.model.classifier):
                stepper.step(batch)
            return 1.0

        cases[name] = case
    times = alternate(cases, 2 * rounds)
    rows.append(compare("MASKER step, paper's form", "vanilla step", times["masker"], times["vanilla"], at_most=2.6))
    rows.append(compare("MASKER step, fast form", "vanilla step", times["fast"], times["vanilla"], at_most=2.0))

    times = alternate(
        {
            "upstream": epochs_of(upstream, 4 * BATCH),
            "vanilla": epochs_of(steppers["vanilla"], 4 * BATCH),
        },
        rounds,
    )
    rows.append(compare("vanilla step", "Trainer of transformers", times["upstream"], times["vanilla"], at_least=2))
    return rows
