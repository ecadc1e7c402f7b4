"""MaskerTrainer: what the algorithm changes in the Trainer of transformers, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader
from transformers import EvalPrediction, PrinterCallback, Trainer, TrainerCallback

from masker import distributed
from masker.config import Settings
from masker.documents.encoding import Encoded
from masker.losses.document_loss import balanced_class_weights, classification_loss
from masker.losses.masked_entropy import entropy_loss
from masker.losses.no_class import no_class_loss
from masker.losses.product_of_experts import product_of_experts
from masker.losses.reconstruction import reconstruction_loss
from masker.losses.total import total_loss
from masker.masking.collator import Collator
from masker.metrics import accuracy, pearson
from masker.modeling.network import MaskerNetwork
from masker.modeling.tensors import write_tensors
from masker.training import resume as run_state
from masker.training.arguments import training_arguments
from masker.training.averaging import WeightAverage
from masker.training.progress_callback import ProgressCallback
from masker.training.sampler import LengthGroupedBatches

_ENCODER_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_NETWORK_INPUTS = (
    *_ENCODER_INPUTS,
    *("masked_rows", "masked_columns"),
    *(f"context_{name}" for name in _ENCODER_INPUTS),
)
_EVALUATION_BATCH = 64
#: Marks the batch of a process that got no document of the last batch.
_SPARE = "spare"


class _EpochCallback(TrainerCallback):  # type: ignore[misc]
    """Tells collator and sampler the epoch: masks and order are functions of it.

    (The Trainer's own ``set_epoch`` does not reach a sampler behind the wrappers of a resumed, sharded loader.)
    """

    def __init__(self, *listeners: Any) -> None:
        self.listeners = listeners

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        for listener in self.listeners:
            listener.epoch = int(state.epoch or 0)


class MaskerTrainer(Trainer):  # type: ignore[misc]
    """Trains a :class:`MaskerNetwork` on documents and their masked views.

    Args:
        network: The network; it is trained in place.
        settings: All settings of the run.
        folder: Where checkpoints go.
        train: Encoded training documents.
        validation: Encoded validation documents; the checkpoint that does best on them is the result, unless weights
            are averaged.
        collator: Makes the training batches.
        epochs: How many passes over ``train``.
        title: Name of the progress bar.
        averaged_share: Of the steps, how many at the end give the resulting weights, which are their mean.
    """

    def __init__(
        self,
        network: MaskerNetwork,
        settings: Settings,
        folder: Path,
        train: Encoded,
        validation: Encoded,
        collator: Collator,
        epochs: int,
        title: str,
        averaged_share: float = 0.0,
    ) -> None:
        self.settings = settings
        self.collator = collator
        self.optimizer: Any
        training = settings.training
        self.batches = LengthGroupedBatches(
            train.lengths, training.batch_size, training.seed, distributed.rank(), distributed.world_size()
        )
        regression = settings.model.head == "regression"
        super().__init__(
            model=network,
            args=training_arguments(settings, folder, epochs, averaged=averaged_share > 0),
            train_dataset=train,
            eval_dataset=validation,
            data_collator=collator,
            compute_metrics=self._validation_metrics,
            callbacks=[ProgressCallback(title), _EpochCallback(collator, self.batches)],
        )
        self.remove_callback(PrinterCallback)  # it prints to stdout
        self.average = WeightAverage(network, averaged_share) if averaged_share > 0 else None
        if self.average is not None:
            self.add_callback(self.average)
        # Makes the Trainer hand the number of documents of a whole accumulated batch to compute_loss.
        self.model_accepts_loss_kwargs = True
        self.class_weights: torch.Tensor | None = None
        if settings.loss.class_weights == "balanced" and not regression and train.labels is not None:
            self.class_weights = balanced_class_weights(
                torch.from_numpy(train.labels), network.classifier.config.num_labels
            )
        views = collator.views
        switched_on = {"L_CE": True, "L_MKR": views and views.keyword_view, "L_MER": views and views.context_view}
        self._terms = {name: 0.0 for name, on in switched_on.items() if on}
        self._term_count = 0

    def get_train_dataloader(self) -> Any:
        """This process's part of the batches of similar length, with their views."""
        # Not handed to accelerate: it would fill up the last batches with documents that were seen already.
        # A generator of its own keeps the loader from drawing on the one that dropout uses.
        return DataLoader(
            self.train_dataset,
            batch_sampler=self.batches,
            collate_fn=self._collate,
            generator=torch.Generator().manual_seed(self.settings.training.seed),
            pin_memory=torch.cuda.is_available(),
        )

    def _collate(self, features: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        if features:
            return self.collator(features)
        # Gradients are averaged over all processes, so one without a document has to take the step too. It runs some
        # document, which counts for nothing.
        return {**self.collator([self.train_dataset[0]]), _SPARE: torch.ones(1)}

    def _get_num_items_in_batch(self, batch_samples: list[Any], device: torch.device) -> torch.Tensor:
        """Documents of one optimizer step, over its micro-batches and all processes."""
        documents = sum(len(batch["labels"]) for batch in batch_samples if _SPARE not in batch)
        count: torch.Tensor = distributed.all_reduce(torch.tensor(documents, device=device))
        return count

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
        """Documents alone, in order."""
        plain = Collator(self.collator.pad_id, self.collator.special_ids.tolist())
        dataset = self.eval_dataset if eval_dataset is None else eval_dataset
        # accelerate fills up the last batches, so that all processes have the same number; small ones waste less.
        batch_size = min(_EVALUATION_BATCH, -(-len(dataset) // distributed.world_size()))
        return self.accelerator.prepare(DataLoader(dataset, batch_size=batch_size, collate_fn=plain))

    def _validation_metrics(self, prediction: EvalPrediction) -> dict[str, float]:
        """Accuracy (or correlation) and the mean loss, from the outputs that all processes gathered.

        The Trainer's own loss is a mean of means over batches, which depends on how the documents were cut up.
        """
        logits, labels = np.asarray(prediction.predictions), np.asarray(prediction.label_ids)
        head = self.settings.model.head
        losses = classification_loss(torch.from_numpy(logits), torch.from_numpy(labels), head, self.class_weights)
        loss = losses.double().mean().item()
        if head == "regression":
            return {"pearson": pearson(labels, logits[:, 0]), "loss": loss}
        return {"accuracy": accuracy(labels, logits.argmax(axis=1)), "loss": loss}

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Add the figure that the best checkpoint is chosen by.

        For classes: the number of validation documents that are right and, among equals, the lower loss. Accuracy alone
        would keep the first of many checkpoints that tie on a small validation set, the least trained one.
        """
        metrics: dict[str, float] = super().evaluate(*args, **kwargs)
        if "eval_accuracy" in metrics:
            right = round(metrics["eval_accuracy"] * len(self.eval_dataset))
            metrics["eval_selection"] = right + 1.0 / (1.0 + metrics["eval_loss"])
        else:
            metrics["eval_selection"] = metrics["eval_pearson"]
        # All processes have to choose the same checkpoint, down to the last bit of a tie.
        shared: dict[str, float] = distributed.broadcast(metrics)
        return shared

    def create_optimizer(self, model: Any = None) -> Any:
        """AdamW with a smaller learning rate for the embedding layers while a regulariser is on."""
        if self.optimizer is None:
            slow = self.model.embedding_parameter_names() if self._regularised else set()
            decay = set(self.get_decay_parameter_names(self.model))
            training, encoder = self.settings.training, self.model.encoder_parameter_names()
            groups: dict[tuple[float, bool], list[torch.nn.Parameter]] = {}
            for name, parameter in self.model.named_parameters():
                if parameter.requires_grad:
                    scale = training.embedding_lr_scale if name in slow else 1.0
                    scale = scale if name in encoder else training.head_lr_scale
                    groups.setdefault((scale, name in decay), []).append(parameter)
            optimizer_class, options = self.get_optimizer_cls_and_kwargs(self.args, self.model)
            self.optimizer = optimizer_class(
                [
                    {
                        "params": parameters,
                        "weight_decay": self.args.weight_decay if decayed else 0.0,
                        "lr": self.args.learning_rate * scale,
                    }
                    for (scale, decayed), parameters in groups.items()
                ],
                **options,
            )
        return self.optimizer

    @property
    def _regularised(self) -> bool:
        return self.collator.views is not None

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | int | None = None,
    ) -> Any:
        """L_total over the documents of the batch, averaged over the documents of the whole accumulated batch."""
        outputs = model(**{name: inputs[name] for name in _NETWORK_INPUTS if name in inputs})
        terms = self._loss_terms(inputs, outputs)
        loss_settings = self.settings.loss
        per_document = total_loss(
            terms["L_CE"], terms.get("L_MKR"), terms.get("L_MER"), loss_settings.lambda_mkr, loss_settings.lambda_mer
        )
        if not model.training:
            loss = per_document.mean()
            return (loss, {"doc_logits": outputs["doc_logits"]}) if return_outputs else loss
        if num_items_in_batch is None:
            return per_document.mean()
        if _SPARE in inputs:
            return per_document.sum() * 0.0
        self._remember(terms)
        # Distributed training averages gradients over processes, while the documents were counted over all of them.
        return per_document.sum() / num_items_in_batch * distributed.world_size()

    def _loss_terms(self, inputs: dict[str, torch.Tensor], outputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        labels, doc_logits = inputs["labels"], outputs["doc_logits"]
        head = self.settings.model.head
        weights = None if self.class_weights is None else self.class_weights.to(doc_logits.device)
        n_documents = len(labels)
        ensemble = doc_logits[:n_documents]
        if "bias_logits" in inputs:
            ensemble = product_of_experts(ensemble, inputs["bias_logits"], head)
        terms = {"L_CE": classification_loss(ensemble, labels, head, weights)}
        views = self.collator.views if "view_of_row" in inputs else None
        if views is None:
            return terms
        owner, view = inputs["document_of_row"], inputs["view_of_row"]
        if views.keyword_view:
            if self.settings.loss.keyword_view == "augment":
                rows = view == 1
                losses = classification_loss(doc_logits[rows], labels[owner[rows]], head, weights)
                terms["L_MKR"] = losses.new_zeros(n_documents).index_add(0, owner[rows], losses)
            else:
                terms["L_MKR"] = reconstruction_loss(
                    outputs["token_logits"],
                    inputs["keyword_labels"],
                    owner[inputs["masked_rows"]],
                    n_documents,
                    self.settings.loss.mkr_reduction,
                )
        if views.context_view:
            dropped = outputs.get("context_doc_logits")
            regularize = no_class_loss if self.settings.loss.mer_target == "no-class" else entropy_loss
            terms["L_MER"] = regularize(doc_logits[view == 2] if dropped is None else dropped)
        return terms

    def _remember(self, terms: dict[str, torch.Tensor]) -> None:
        for name, values in terms.items():
            self._terms[name] += values.detach().sum().item()
        self._term_count += len(terms["L_CE"])

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Add the mean of each loss term over the documents of all processes since the last log line."""
        if "loss" in logs:
            sums = torch.tensor([*self._terms.values(), self._term_count], dtype=torch.float64)
            *values, documents = distributed.all_reduce(sums).tolist()
            logs = {**logs, **{name: value / documents for name, value in zip(self._terms, values, strict=True)}}
            self._terms, self._term_count = dict.fromkeys(self._terms, 0.0), 0
        super().log(logs, start_time)

    # Checkpoints without pickle: the Trainer would write and read these parts with torch.save and torch.load.

    def _save(self, output_dir: str | None = None, state_dict: dict[str, Any] | None = None) -> None:
        folder = Path(output_dir or self.args.output_dir)
        folder.mkdir(parents=True, exist_ok=True)
        tensors = self.model.state_dict() if state_dict is None else state_dict
        write_tensors(tensors, folder / "model.safetensors")

    def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
        if self.args.should_save:
            run_state.save_optimizer(Path(output_dir), self.optimizer, self.lr_scheduler)
            if self.average is not None:
                self.average.save(Path(output_dir))

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        if checkpoint is not None:
            run_state.load_optimizer(Path(checkpoint), self.optimizer, self.lr_scheduler)
            if self.average is not None:
                self.average.load(Path(checkpoint))

    def _save_rng_state(self, output_dir: str) -> None:
        run_state.save_random_state(Path(output_dir), self.args.process_index)
        distributed.barrier()  # what comes next, the Trainer's state, tells that the checkpoint is complete

    def _load_rng_state(self, checkpoint: str | None) -> None:
        if checkpoint is not None:
            run_state.load_random_state(Path(checkpoint), self.args.process_index)
