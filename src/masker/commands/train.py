"""``masker train``: from a data source to a model folder, resuming after an interruption."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from masker import distributed
from masker.config import DataSettings, Settings
from masker.documents import Documents, check_classes, read_documents, settings_for
from masker.documents.label_doubts import warn_of_doubts
from masker.documents.texts import Text, texts_of
from masker.errors import ConfigError, DataError
from masker.evidence.training_examples import check_keeps_examples, choose_examples
from masker.extras import require
from masker.model import Model
from masker.modeling.model_folder import check_output
from masker.training.work_folder import remove_work_folder


@dataclass(frozen=True)
class TrainingSummary:
    """What a finished training reports."""

    model: Model
    folder: Path
    documents: int
    skipped: int
    seconds: float
    trade_off: list[dict[str, Any]] | None = None
    data: Documents | None = None


@dataclass(frozen=True)
class OodExamples:
    """A source of texts that set the operating point, and the upper limit of its rate; ``None`` is one half."""

    source: str
    highest: float | None = None


def train(
    data: str,
    output: str | Path,
    settings: Settings,
    *,
    examples: OodExamples | None = None,
    device: str = "auto",
    restart: bool = False,
    keep_examples: int = 0,
) -> TrainingSummary:
    """Train on ``data`` and write the model folder ``output``.

    Meanwhile ``<output>.partial`` holds what is needed to resume: calling again with the same data and settings
    continues. It is removed once the model is written.

    ``keep_examples`` is how many of the texts are kept in the model folder, for :mod:`masker.evidence`.

    Under ``torchrun`` or ``accelerate launch`` all processes call this and get the same result; the first one writes.

    Raises:
        ConfigError: When the output exists, another process is training it, or an unfinished run with other data or
            settings is in the way (``restart`` discards it).
    """
    start = time.monotonic()
    folder = Path(distributed.first_only(lambda: str(check_output(output))))
    documents = read_training_documents(data, settings)
    if keep_examples:
        check_keeps_examples(settings.training.method)
    ood_texts = None if examples is None else _read_shared(examples.source, settings.data)
    if ood_texts is not None:
        _check_examples(ood_texts, documents, settings)
    work = folder.absolute().with_name(f"{folder.name}.partial")
    model = Model.fit(documents, settings, work, device=device, restart=restart)
    trade_off = None
    if ood_texts is not None and examples is not None:
        model, trade_off = model.at_operating_point(ood_texts, examples.highest)

    def save() -> str:
        kept = choose_examples(model, documents, keep_examples) if keep_examples else None
        return str(model.save(folder, beside=None if kept is None else kept.save))

    distributed.first_only(save)
    if distributed.is_first():
        remove_work_folder(work)
    took = time.monotonic() - start
    return TrainingSummary(model, folder, len(documents), documents.skipped, took, trade_off, documents)


def training_plan(data: str, settings: Settings) -> dict[str, str]:
    """What a training on ``data`` would decide, by subject; nothing is trained or written."""
    require("training", "torch", "transformers", "sklearn")
    from masker.detection.promises import plan_training

    documents = read_training_documents(data, settings)
    settings = settings_for(documents, settings)
    classes = [] if settings.model.head == "regression" else sorted(documents.class_names)
    warn_of_doubts(documents)
    return plan_training(documents, classes, settings)


def read_training_documents(data: str, settings: Settings) -> Documents:
    """The labelled documents of a source, checked for the head they will train.

    In a distributed run the first process reads ``data`` and sends the documents to the others.
    """
    if distributed.world_size() == 1:
        return _read_documents(data, settings)
    return Documents(**distributed.first_only(lambda: asdict(_read_documents(data, settings))))


def _read_documents(data: str, settings: Settings) -> Documents:
    head = settings.model.head
    documents = read_documents(data, settings.data, require_labels=True, head=head)
    if head != "regression":
        check_classes(documents)
    return documents


def read_other_texts(source: str, settings: DataSettings) -> list[Text]:
    """The texts of a second source; ``--where`` and ``--limit`` apply to the main one only."""
    return texts_of(read_documents(source, settings.all_rows(), require_labels=False))


def _read_shared(source: str, settings: DataSettings) -> list[Text]:
    if distributed.world_size() == 1:
        return read_other_texts(source, settings)
    texts = distributed.first_only(lambda: read_other_texts(source, settings))
    return [text if isinstance(text, str) else (text[0], text[1]) for text in texts]


def _check_examples(examples: list[Text], documents: Documents, settings: Settings) -> None:
    """Refuse before training what would be refused after it."""
    if settings.model.head == "regression":
        raise ConfigError("a regression has no classes to be out of; leave --ood-examples out")
    if settings.data.validation_fraction == 0.0:
        raise ConfigError(
            "--ood-examples: data.validation_fraction=0 holds no document out to set a rate on; leave them out, and "
            "give them to 'masker calibrate' with new texts"
        )
    if isinstance(examples[0], str) != (documents.pairs is None):
        kinds = ("texts", "pairs of texts") if documents.pairs is None else ("pairs of texts", "texts")
        raise DataError(f"--ood-examples must hold {kinds[0]}, as the training data do; got {kinds[1]}")
