"""MaskerTrainer: what the algorithm changes in transformers' Trainer, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import DataLoader
from transformers import EvalPrediction, PrinterCallback, Trainer, TrainerCallback

from masker import distributed
from masker.config import Settings
from masker.losses.document_loss import balanced_class_weights, classification_loss
from masker.losses.total import total_loss
from masker.masking.collator import Collator
from masker.modeling.network import MaskerNetwork
from masker.modeling.tensors import write_tensors
from masker.training import resume
from masker.training.arguments import training_arguments
from masker.training.averaging import WeightAverage
from masker.training.finite_steps import FiniteSteps
from masker.training.loss_curve import LossCurve
from masker.training.loss_terms import loss_terms
from masker.training.optimizer_groups import optimizer_groups
from masker.training.progress_callback import ProgressCallback
from masker.training.sampler import LengthGroupedBatches
from masker.training.validation_metric import metric_name, validation_metric

if TYPE_CHECKING:
    from masker.training.training_data import TrainingData
    from masker.training.training_stage import TrainingStage

_ENCODER_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_NETWORK_INPUTS = (
    *_ENCODER_INPUTS,
    *("masked_rows", "masked_columns"),
    *(f"context_{name}" for name in _ENCODER_INPUTS),
)
_EVALUATION_BATCH = 64
#: Processes that make batches while a GPU trains.
GPU_WORKERS = 2
#: Marks the batch of a process for which the last batch had no document left.
_SPARE = "spare"


class _EpochCallback(TrainerCallback):  # type: ignore[misc]
    """Sets the epoch of collator and sampler: masks and order are functions of it.

    (The Trainer's own ``set_epoch`` does not reach a sampler inside a resumed, sharded loader.)
    """

    def __init__(self, *listeners: Any) -> None:
        self.listeners = listeners

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        for listener in self.listeners:
            listener.epoch = int(state.epoch or 0)


class MaskerTrainer(Trainer):  # type: ignore[misc]
    """Trains a :class:`MaskerNetwork`, in place, on documents and their masked views.

    The validation documents choose the best checkpoint, unless weights are averaged.
    """

    def __init__(
        self,
        network: MaskerNetwork,
        settings: Settings,
        stage: TrainingStage,
        folder: Path,
        data: TrainingData,
        collator: Collator,
        device: torch.device,
    ) -> None:
        self.settings = settings
        self.collator = collator
        self.optimizer: Any
        training, train = settings.training, data.train
        self.batches = LengthGroupedBatches(
            train.lengths, training.batch_size, training.seed, distributed.rank(), distributed.world_size()
        )
        regression = settings.model.head == "regression"
        super().__init__(
            model=network,
            args=training_arguments(settings, stage, folder, device),
            train_dataset=train,
            eval_dataset=data.validation,
            data_collator=collator,
            compute_metrics=self._validation_metrics,
            callbacks=[_EpochCallback(collator, self.batches)],
        )
        self.remove_callback(PrinterCallback)  # it prints to stdout
        self.progress = ProgressCallback(stage.name)
        self.add_callback(self.progress)
        self.add_callback(FiniteSteps(network, scaled=self.accelerator.scaler is not None))
        self.average = WeightAverage(network, stage.averaged_share) if stage.averaged_share > 0 else None
        if self.average is not None:
            self.add_callback(self.average)
        # Makes the Trainer pass the number of documents of a whole accumulated batch to compute_loss.
        self.model_accepts_loss_kwargs = True
        self.class_weights: torch.Tensor | None = None
        if settings.loss.class_weights == "balanced" and not regression and train.labels is not None:
            self.class_weights = balanced_class_weights(
                torch.from_numpy(train.labels), network.classifier.config.num_labels
            )
        views = collator.views
        switched_on = {"L_CE": True, "L_MKR": views and views.keyword_view, "L_MER": views and views.context_view}
        switched_on["L_attn"] = stage.attention_term
        self._terms = {name: 0.0 for name, on in switched_on.items() if on}
        self._term_count = 0
        self.losses = LossCurve(list(self._terms))
        self.add_callback(self.losses)

    def get_train_dataloader(self) -> Any:
        """This process's share of the batches, with their masked views."""
        on_gpu = self.args.device.type == "cuda"
        # Not prepared by accelerate, which would pad the last batch with documents seen before.
        # Its own generator keeps the loader from drawing on the one that dropout uses.
        return DataLoader(
            self.train_dataset,
            batch_sampler=self.batches,
            collate_fn=self._collate,
            generator=torch.Generator().manual_seed(self.settings.training.seed),
            pin_memory=on_gpu,
            # A CPU has nothing to spare beside the training itself; a GPU waits for masks made one at a time.
            num_workers=GPU_WORKERS if on_gpu else 0,
        )

    def _collate(self, features: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        if features:
            return self.collator(features)
        # Gradients are averaged over all processes, so one without a document must take the step too: it runs some
        # document with weight 0.
        return {**self.collator([self.train_dataset[0]]), _SPARE: torch.ones(1)}

    def _get_num_items_in_batch(self, batch_samples: list[Any], device: torch.device) -> torch.Tensor:
        """Documents of one optimizer step, over all micro-batches and processes."""
        documents = sum(len(batch["labels"]) for batch in batch_samples if _SPARE not in batch)
        count: torch.Tensor = distributed.all_reduce(torch.tensor(documents, device=device))
        return count

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
        """Documents alone, in order."""
        plain = Collator(self.collator.pad_id, self.collator.special_ids.tolist())
        dataset = self.eval_dataset if eval_dataset is None else eval_dataset
        # accelerate pads the last batches so that all processes have equally many; small batches waste less.
        batch_size = min(_EVALUATION_BATCH, -(-len(dataset) // distributed.world_size()))
        return self.accelerator.prepare(DataLoader(dataset, batch_size=batch_size, collate_fn=plain))

    def _validation_metrics(self, prediction: EvalPrediction) -> dict[str, float]:
        """Accuracy (or micro F1, or correlation) and mean loss, from the outputs of all processes.

        The Trainer's own loss is a mean of batch means, which depends on how the documents are batched.
        """
        logits, labels = np.asarray(prediction.predictions), np.asarray(prediction.label_ids)
        head = self.settings.model.head
        losses = classification_loss(torch.from_numpy(logits), torch.from_numpy(labels), head, self.class_weights)
        return {**validation_metric(labels, logits, head), "loss": losses.double().mean().item()}

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Add the figure that selects the best checkpoint.

        For classes: the number of correct validation documents, ties broken by the lower loss. Accuracy alone would
        keep the first of many checkpoints that tie on a small validation set: the one trained least.
        """
        metrics: dict[str, float] = super().evaluate(*args, **kwargs)
        if "eval_accuracy" in metrics:
            right = round(metrics["eval_accuracy"] * len(self.eval_dataset))
            metrics["eval_selection"] = right + 1.0 / (1.0 + metrics["eval_loss"])
        else:
            metrics["eval_selection"] = metrics[f"eval_{metric_name(self.settings.model.head)}"]
        # All processes must choose the same checkpoint, down to the last bit of a tie.
        shared: dict[str, float] = distributed.broadcast(metrics)
        return shared

    def create_optimizer(self, model: Any = None) -> Any:
        """AdamW with a learning rate for each part of the network."""
        if self.optimizer is None:
            optimizer_class, options = self.get_optimizer_cls_and_kwargs(self.args, self.model)
            decayed = self.get_decay_parameter_names(self.model)
            regularized = self.collator.views is not None
            groups = optimizer_groups(self.model, self.settings.training, decayed, regularized=regularized)
            self.optimizer = optimizer_class(groups, **options)
        return self.optimizer

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | int | None = None,
    ) -> Any:
        """L_total of this batch, divided by the number of documents of the whole accumulated batch."""
        outputs = model(**{name: inputs[name] for name in _NETWORK_INPUTS if name in inputs})
        terms = loss_terms(inputs, outputs, self.collator, self.settings, self.class_weights)
        loss_settings = self.settings.loss
        per_document = total_loss(
            terms["L_CE"], terms.get("L_MKR"), terms.get("L_MER"), loss_settings.lambda_mkr, loss_settings.lambda_mer
        )
        if "L_attn" in terms:
            per_document = per_document + loss_settings.lambda_attention * terms["L_attn"]
        if not model.training:
            loss = per_document.mean()
            return (loss, {"doc_logits": outputs["doc_logits"]}) if return_outputs else loss
        if num_items_in_batch is None:
            return per_document.mean()
        if _SPARE in inputs:
            return per_document.sum() * 0.0
        self._remember(terms)
        # Gradients are averaged over processes, but the documents were counted over all of them.
        return per_document.sum() / num_items_in_batch * distributed.world_size()

    def _remember(self, terms: dict[str, torch.Tensor]) -> None:
        sums = {name: values.detach().sum().item() for name, values in terms.items()}
        documents = len(terms["L_CE"])
        for name, value in sums.items():
            self._terms[name] += value
        self._term_count += documents
        self.losses.add(sums, documents)

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Add the mean of each loss term over all processes since the last log entry."""
        if "loss" in logs:
            sums = torch.tensor([*self._terms.values(), self._term_count], dtype=torch.float64)
            *values, documents = distributed.all_reduce(sums).tolist()
            logs = {**logs, **{name: value / documents for name, value in zip(self._terms, values, strict=True)}}
            self._terms, self._term_count = dict.fromkeys(self._terms, 0.0), 0
        super().log(logs, start_time)

    def _run_epoch(self, *args: Any, **kwargs: Any) -> None:
        # Resumed from the checkpoint of its last step, within an epoch, the Trainer would take one step too many.
        if self.state.global_step >= self.state.max_steps:
            self.control.should_training_stop = True
            return
        super()._run_epoch(*args, **kwargs)

    # Checkpoints without pickle: the Trainer would use torch.save and torch.load for these parts.

    def _save(self, output_dir: str | None = None, state_dict: dict[str, Any] | None = None) -> None:
        folder = Path(output_dir or self.args.output_dir)
        folder.mkdir(parents=True, exist_ok=True)
        tensors = self.model.state_dict() if state_dict is None else state_dict
        write_tensors(tensors, folder / "model.safetensors")

    def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
        if self.args.should_save:
            resume.save_optimizer(Path(output_dir), self.optimizer, self.lr_scheduler)
            self.losses.save(Path(output_dir))
            if self.average is not None:
                self.average.save(Path(output_dir))

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        if checkpoint is not None:
            resume.load_optimizer(Path(checkpoint), self.optimizer, self.lr_scheduler)
            self.losses.load(Path(checkpoint))
            if self.average is not None:
                self.average.load(Path(checkpoint))

    def _save_rng_state(self, output_dir: str) -> None:
        resume.save_random_state(Path(output_dir), self.args.process_index)
        distributed.barrier()  # the Trainer's state, written next, marks the checkpoint as complete

    def _load_rng_state(self, checkpoint: str | None) -> None:
        if checkpoint is not None:
            resume.load_random_state(Path(checkpoint), self.args.process_index)
