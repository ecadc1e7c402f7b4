"""The methods that train a network: vanilla fine-tuning, MASKER and the residual ensemble with their keyword stage.

Work is done in stages that each leave their result in the work folder, so an interrupted run goes on where it was and
ends with the same result as one that was never interrupted.

Several processes (:mod:`masker.distributed`) go through the stages side by side; the first one alone reads and writes
the files.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file

from masker import distributed
from masker.config import Method, Settings
from masker.documents import Documents
from masker.errors import ConfigError
from masker.inference.batching import content_special_ids, predict_logits
from masker.keywords import KeywordSet
from masker.masking.collator import Collator, Views
from masker.masking.keywords_only import keywords_only
from masker.modeling.backbone import Backbone, load_backbone, load_classifier
from masker.modeling.convolution import convolution_on
from masker.modeling.network import MaskerNetwork
from masker.modeling.tensors import write_tensors
from masker.training.fast_dropout import fast_dropout_in
from masker.training.heap import kept_heap
from masker.training.keyword_stage import choose_keywords
from masker.training.resume import checkpoint_step, last_complete_checkpoint
from masker.training.trainer import MaskerTrainer
from masker.training.training_data import Corpus, encode_corpus

_log = logging.getLogger("masker")


@dataclass(frozen=True)
class Trained:
    """The outcome of a method."""

    network: MaskerNetwork
    backbone: Backbone
    corpus: Corpus
    keywords: KeywordSet | None
    validation_metric: dict[str, float]


def train_method(documents: Documents, classes: Sequence[str], settings: Settings, work: Path) -> Trained:
    """Train the network of the method that ``settings.training.method`` names.

    Args:
        documents: Labelled documents.
        classes: Class names in the order of the outputs; empty for regression.
        settings: All settings.
        work: Folder for checkpoints and stage results; reused when it holds an interrupted run of the same kind.
    """
    distributed.first_only(lambda: work.mkdir(parents=True, exist_ok=True))
    distributed.together(lambda: _check_shared(work))
    backbone = _fresh_backbone(settings, classes)
    corpus = encode_corpus(documents, classes, settings, backbone)
    return _METHODS[settings.training.method](settings, backbone, corpus, work)


def _train_vanilla(
    settings: Settings, backbone: Backbone, corpus: Corpus, work: Path, stage: str = "vanilla"
) -> Trained:
    network, metric = _train_stage(stage, settings, backbone, corpus, None, settings.epochs, work)
    return Trained(network, backbone, corpus, None, metric)


def _train_masker(settings: Settings, backbone: Backbone, corpus: Corpus, work: Path) -> Trained:
    keywords = find_keywords(settings, backbone, corpus, work)
    # The keyword stage trained this copy of the encoder: MASKER starts from the pre-trained one, as in the paper.
    backbone = _fresh_backbone(settings, corpus.classes)
    if settings.training.warm_start:
        backbone = _vanilla_backbone(settings, backbone, corpus, work)
    network, metric = _train_stage("masker", settings, backbone, corpus, keywords, settings.epochs, work)
    return Trained(network, backbone, corpus, keywords, metric)


def _train_residual(settings: Settings, backbone: Backbone, corpus: Corpus, work: Path) -> Trained:
    keywords = find_keywords(settings, backbone, corpus, work)
    bias_logits = _find_bias(settings, corpus, keywords, work)
    backbone = _fresh_backbone(settings, corpus.classes)
    network, metric = _train_stage("residual", settings, backbone, corpus, None, settings.epochs, work, bias_logits)
    return Trained(network, backbone, corpus, keywords, metric)


def _train_convolution(settings: Settings, backbone: Backbone, corpus: Corpus, work: Path) -> Trained:
    baselines = settings.baselines
    convolution = convolution_on(
        backbone.classifier,
        filters=baselines.doc_filters,
        hidden=baselines.doc_hidden,
        dropout=baselines.doc_dropout,
    )
    return _train_vanilla(settings, replace(backbone, classifier=convolution), corpus, work, "convolution")


def _train_openmax(settings: Settings, backbone: Backbone, corpus: Corpus, work: Path) -> Trained:
    train = _train_convolution if settings.is_convolutional else _train_vanilla
    return train(settings, backbone, corpus, work)


_METHODS: dict[Method, Callable[[Settings, Backbone, Corpus, Path], Trained]] = {
    "vanilla": _train_vanilla,
    "masker": _train_masker,
    "residual": _train_residual,
    "openmax": _train_openmax,
    "doc": _train_convolution,
}


def make_views(settings: Settings, keywords: KeywordSet | None, tokenizer: Any) -> Views | None:
    """The views that the loss terms switched on need; none at all leaves plain vanilla training."""
    keyword_view = settings.loss.lambda_mkr > 0
    # A uniform distribution over classes has no meaning for regression: the paper uses MKR only there.
    context_view = settings.loss.lambda_mer > 0 and settings.model.head != "regression"
    if keywords is None or not (keyword_view or context_view):
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
    )


def find_keywords(settings: Settings, backbone: Backbone, corpus: Corpus, work: Path) -> KeywordSet:
    """The keyword stage: chosen once, then read from the work folder."""
    path = work / "keywords.json"
    stored = distributed.first_only(lambda: path.read_text(encoding="utf-8") if path.is_file() else None)
    if stored is not None:
        return KeywordSet.from_json(json.loads(stored))
    classifier = backbone.classifier
    if settings.keywords.source == "attention" and settings.keywords.attention_model is None:
        vanilla, _ = _train_stage("vanilla", settings, backbone, corpus, None, settings.vanilla_stage_epochs, work)
        classifier = vanilla.classifier
    keywords = choose_keywords(settings, backbone.tokenizer, classifier, corpus.train, corpus.classes)
    _log.info("keywords (%s): %s", keywords.source, ", ".join(keywords.words[:20]))

    def write() -> str:
        temporary = path.with_suffix(".tmp")
        temporary.write_text(keywords.dumps(), encoding="utf-8")
        os.replace(temporary, path)
        return keywords.dumps()

    return KeywordSet.from_json(json.loads(distributed.first_only(write)))


def _vanilla_backbone(settings: Settings, backbone: Backbone, corpus: Corpus, work: Path) -> Backbone:
    """What a warm start goes on from: the model that the user names, or the vanilla stage."""
    folder = settings.keywords.attention_model
    if folder is None:
        vanilla, _ = _train_stage("vanilla", settings, backbone, corpus, None, settings.vanilla_stage_epochs, work)
        classifier = vanilla.classifier
    else:
        classifier = distributed.together(lambda: load_classifier(folder))
        if _form(classifier) != _form(backbone.classifier):
            raise ConfigError(
                f"MASKER cannot go on from keywords.attention_model '{folder}', which has other classes or another "
                "encoder; name one that fits, or add --set training.warm_start=false"
            )
    _seed(settings)
    return replace(backbone, classifier=classifier)


def _form(classifier: Any) -> tuple[Any, ...]:
    """What two models have in common if one can take the other's place: encoder, and classes in their order."""
    config = classifier.config
    encoder = tuple(getattr(config, name, None) for name in ("model_type", "hidden_size", "num_hidden_layers"))
    return *encoder, config.vocab_size, [config.id2label[place] for place in sorted(config.id2label)]


def _find_bias(settings: Settings, corpus: Corpus, keywords: KeywordSet, work: Path) -> npt.NDArray[np.float32]:
    """The bias stage: a model of documents reduced to their keywords, and its (N, C) logits of the training rows."""
    path = work / "bias.safetensors"
    if distributed.first_only(path.is_file):
        stored: npt.NDArray[np.float32] = load_file(path)["logits"].numpy()
        return stored
    backbone = _fresh_backbone(settings, corpus.classes)
    special = sorted(content_special_ids(backbone.tokenizer))
    reduced = replace(
        corpus,
        train=keywords_only(corpus.train, keywords, special),
        validation=keywords_only(corpus.validation, keywords, special),
    )
    biased, metric = _train_stage("biased", settings, backbone, reduced, None, settings.epochs, work)
    _log.info("keywords alone give a validation accuracy of %.3f", metric["accuracy"])
    logits = predict_logits(biased.classifier, Collator(backbone.tokenizer.pad_token_id, special), reduced.train)
    # All processes of a distributed run have the same logits.
    distributed.first_only(lambda: write_tensors({"logits": torch.from_numpy(logits)}, path))
    return logits


def _train_stage(
    stage: str,
    settings: Settings,
    backbone: Backbone,
    corpus: Corpus,
    keywords: KeywordSet | None,
    epochs: int,
    work: Path,
    bias_logits: npt.NDArray[np.float32] | None = None,
) -> tuple[MaskerNetwork, dict[str, float]]:
    tokenizer = backbone.tokenizer
    views = make_views(settings, keywords, tokenizer)
    reconstruct = views is not None and views.keyword_view and settings.loss.keyword_view == "reconstruct"
    network = MaskerNetwork(backbone.classifier, len(keywords.target_ids) if reconstruct and keywords else 0)
    folder = work / stage
    finished = folder / "result.safetensors"
    start = distributed.first_only(lambda: _open_stage(folder, finished))
    trainer = MaskerTrainer(
        network,
        settings,
        folder,
        corpus.train,
        corpus.validation,
        Collator(tokenizer.pad_token_id, sorted(content_special_ids(tokenizer)), views, bias_logits),
        epochs,
        stage,
        settings.averaged_share if stage == settings.training.method else 0.0,  # not for a stage on the way
    )
    if start == finished.name:
        network.load_state_dict(load_file(finished))
    else:
        if start is not None:
            _log.info("resuming %s from %s", stage, start)
        _seed_dropout(settings)
        with fast_dropout_in(network.classifier), kept_heap():
            trainer.train(resume_from_checkpoint=None if start is None else str(folder / start))
        distributed.barrier()  # for those that still read the best checkpoint
        distributed.first_only(lambda: _close_stage(folder, finished, network))
    metrics = trainer.evaluate()
    name = "pearson" if settings.model.head == "regression" else "accuracy"
    network.eval()
    return network, {name: float(metrics[f"eval_{name}"])}


def _fresh_backbone(settings: Settings, classes: Sequence[str]) -> Backbone:
    """The pre-trained encoder."""
    _seed(settings)
    return distributed.together(lambda: load_backbone(settings.model, classes))


def _seed(settings: Settings) -> None:
    """Let each stage start alike, whatever ran before it."""
    from transformers import set_seed

    set_seed(settings.training.seed)


def _open_stage(folder: Path, finished: Path) -> str | None:
    """The name of what a stage goes on from: its result, its newest complete checkpoint, or nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    if finished.is_file():
        return finished.name
    checkpoint = last_complete_checkpoint(folder)
    for leftover in folder.glob("checkpoint-*"):
        if checkpoint is None or checkpoint_step(leftover) > checkpoint_step(checkpoint):
            shutil.rmtree(leftover)
    return None if checkpoint is None else checkpoint.name


def _close_stage(folder: Path, finished: Path, network: MaskerNetwork) -> None:
    write_tensors(network.state_dict(), finished)
    for leftover in folder.glob("checkpoint-*"):
        shutil.rmtree(leftover)


def _check_shared(work: Path) -> None:
    if not work.is_dir():
        raise ConfigError(
            f"'{work}' is not there on the machine {platform.node()}; all machines of a run need the same storage "
            "under the same path"
        )


def _seed_dropout(settings: Settings) -> None:
    """All processes made the same weights; from here on each draws dropout masks of its own."""
    if not distributed.is_first():
        sequence = np.random.SeedSequence([settings.training.seed, distributed.rank()])
        torch.manual_seed(int(sequence.generate_state(1, np.uint64)[0] >> 1))
