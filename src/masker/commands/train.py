"""One training run, from a data source to a model folder, that survives being interrupted."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from masker import distributed
from masker.classifier import MaskerClassifier, texts_of
from masker.config import DataSettings, Settings
from masker.documents import Documents, check_classes, read_documents
from masker.documents.texts import Text
from masker.errors import ConfigError, DataError, MaskerError
from masker.keywords import KeywordSet
from masker.modeling.backbone import load_backbone
from masker.modeling.model_folder import check_output, copy_folder, load_manifest

_log = logging.getLogger("masker")


@dataclass(frozen=True)
class RunSummary:
    """What a finished run has to tell."""

    classifier: MaskerClassifier
    folder: Path
    documents: int
    skipped: int
    seconds: float
    trade_off: list[dict[str, Any]] | None = None


def read_training_documents(data: str, settings: Settings) -> Documents:
    """Labelled documents of a source, checked for the head they are to train.

    Of several processes only the first one reads ``data``; the others get the documents from it.
    """
    if distributed.world_size() == 1:
        return _read_documents(data, settings)
    return Documents(**distributed.first_only(lambda: asdict(_read_documents(data, settings))))


def _read_documents(data: str, settings: Settings) -> Documents:
    regression = settings.model.head == "regression"
    documents = read_documents(data, settings.data, require_labels=True, numeric_labels=regression)
    if not regression:
        check_classes(documents)
    return documents


def train_run(
    data: str,
    output: str | Path,
    settings: Settings,
    *,
    restart: bool = False,
    ood_examples: str | None = None,
    highest_rate: float | None = None,
) -> RunSummary:
    """Train on ``data`` and write the model folder ``output``.

    While it runs, all it needs to go on after an interruption lies in ``<output>.partial``; calling it again with the
    same data and settings goes on from there. The folder is removed once the model is written.

    Under ``torchrun`` or ``accelerate launch`` all processes call this and get the same result; the first one writes.

    Args:
        data: A source of labelled documents.
        output: The model folder.
        settings: All settings.
        restart: Discard an unfinished run.
        ood_examples: A source of out-of-distribution texts, to set the false-alarm rate by.
        highest_rate: What that may not exceed.

    Raises:
        ConfigError: When the output exists, another process trains it, or an unfinished run with other data or settings
            is in the way.
    """
    start = time.monotonic()
    folder = Path(distributed.first_only(lambda: str(check_output(output))))
    documents = read_training_documents(data, settings)
    examples = None if ood_examples is None else _shared_texts(ood_examples, settings.data)
    if examples is not None:
        _check_examples(examples, documents, settings)
    with _work_folder(folder, documents, settings, restart) as work:
        try:
            classifier = MaskerClassifier.from_settings(settings).fit_documents(documents, settings, work)
        except MaskerError:
            # Refused before any training was done: leave nothing behind.
            if distributed.is_first() and not _has_work(work):
                shutil.rmtree(work)
            raise
        trade_off = None if examples is None else classifier.set_operating_point(examples, highest_rate)
        distributed.first_only(lambda: str(classifier.save(folder)))
        if distributed.is_first():
            shutil.rmtree(work, ignore_errors=True)
    took = time.monotonic() - start
    return RunSummary(classifier, folder, len(documents), documents.skipped, took, trade_off)


def _check_examples(examples: list[Text], documents: Documents, settings: Settings) -> None:
    """Refuse before training what would be refused after it."""
    if settings.model.head == "regression":
        raise ConfigError("a regression has no classes to be out of; leave --ood-examples out")
    if isinstance(examples[0], str) != (documents.pairs is None):
        kinds = ("texts", "pairs of texts") if documents.pairs is None else ("pairs of texts", "texts")
        raise DataError(f"--ood-examples must have {kinds[0]}, as the training data have; got {kinds[1]}")


def calibrate_run(
    model: str,
    data: str,
    settings: DataSettings,
    *,
    score: str | None = None,
    false_alarm_rate: float | None = None,
    class_conditional: bool | None = None,
    ood_examples: str | None = None,
    statistics: str | None = None,
    output: str | Path | None = None,
    backend: str | None = None,
) -> dict[str, Any]:
    """Calibrate the model of a folder on the texts of a source; see :meth:`MaskerClassifier.calibrate`.

    Args:
        model: The model folder.
        data: New in-distribution texts, with or without labels.
        settings: Columns, encoding, limit.
        score: Another score.
        false_alarm_rate: Another rate.
        class_conditional: Another rule.
        ood_examples: A source of out-of-distribution texts.
        statistics: A source of labelled training texts.
        output: A new folder for the calibrated model; ``None`` changes ``model``.
        backend: What runs the network, if the calibration is to be for that.

    Returns:
        A JSON-ready report.
    """
    if output is not None:
        check_output(output)
    classifier = MaskerClassifier.load(model, backend)
    documents = read_documents(data, settings, require_labels=None)
    examples = None if ood_examples is None else _read_texts(ood_examples, settings)
    known = None
    if statistics is not None:
        # Rows are chosen and counted in ``data`` only: statistics take every class.
        whole = settings.model_copy(update={"where": None, "limit": None})
        trained_on = read_documents(statistics, whole, require_labels=True)
        assert trained_on.labels is not None
        known = texts_of(trained_on), trained_on.labels
    report = classifier.calibrate(
        texts_of(documents),
        documents.labels,
        score=score,
        false_alarm_rate=false_alarm_rate,
        class_conditional=class_conditional,
        ood_examples=examples,
        statistics=known,
    )
    folder = Path(model) if output is None else copy_folder(model, output)
    labelled = documents.labels is not None
    return {"model": str(classifier.save_calibration(folder)), "data": documents.name, "labelled": labelled, **report}


def _read_texts(source: str, settings: DataSettings) -> list[Text]:
    """Texts of another source; ``--where`` and ``--limit`` are for the main one."""
    whole = settings.model_copy(update={"where": None, "limit": None})
    return texts_of(read_documents(source, whole, require_labels=False))


def _shared_texts(source: str, settings: DataSettings) -> list[Text]:
    """The same, read by the first of several processes."""
    if distributed.world_size() == 1:
        return _read_texts(source, settings)
    texts = distributed.first_only(lambda: _read_texts(source, settings))
    return [text if isinstance(text, str) else (text[0], text[1]) for text in texts]


def keywords_of_data(data: str, settings: Settings) -> KeywordSet:
    """The keywords that training on ``data`` would use; attention trains its vanilla stage, or reads a given model."""
    from masker.training.stages import find_keywords
    from masker.training.training_data import encode_corpus

    documents = read_training_documents(data, settings)
    classes = [] if settings.model.head == "regression" else documents.class_names
    backbone = distributed.together(lambda: load_backbone(settings.model, classes))
    corpus = encode_corpus(documents, classes, settings, backbone)
    with distributed.temporary_folder() as work:
        return find_keywords(settings, backbone, corpus, work)


def keywords_of_model(model: str) -> KeywordSet:
    """The keywords a model was trained with."""
    manifest = load_manifest(model).manifest
    if manifest.get("keywords") is None:
        method = manifest["settings"]["training"]["method"]
        raise ConfigError(f"'{model}' was trained without keywords (method {method}); rank those of its data instead")
    return KeywordSet.from_json(manifest["keywords"])


def evaluation_documents(
    model: MaskerClassifier,
    test: str,
    ood: list[str],
    settings: DataSettings,
    ood_where: dict[str, list[str]] | None = None,
) -> tuple[Documents, dict[str, Documents]]:
    """Read a test set and out-of-distribution sets, the latter by their short names.

    ``settings.where`` chooses rows of the test set only; ``ood_where`` does so for the others.
    """
    tests = read_documents(test, settings, require_labels=True, numeric_labels=model.is_regression)
    named: dict[str, Documents] = {}
    foreign = settings.model_copy(update={"where": ood_where})
    for source in ood:
        documents = read_documents(source, foreign, require_labels=False)
        short = Path(source).name.split(".jsonl")[0].split(".csv")[0]
        named[source if short in named else short] = documents
    return tests, named


@contextmanager
def _work_folder(folder: Path, documents: Documents, settings: Settings, restart: bool) -> Iterator[Path]:
    """Where a run keeps what it needs to go on; one run at a time, since a second one would write over its files."""
    folder = folder.absolute()
    lock = FileLock(folder.with_name(f".{folder.name}.lock"))

    def open_alone() -> str:
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise ConfigError(
                f"another process trains '{folder}' now; wait for it or choose another --output"
            ) from None
        return str(_open_work_folder(folder, documents, settings, restart))

    try:
        yield Path(distributed.first_only(open_alone))
    finally:
        if lock.is_locked:
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()


def _has_work(work: Path) -> bool:
    """Whether any training was done: stages have folders."""
    return any(entry.is_dir() for entry in work.iterdir())


def _open_work_folder(folder: Path, documents: Documents, settings: Settings, restart: bool) -> Path:
    work = folder.with_name(f"{folder.name}.partial")
    identity = hashlib.sha256(
        json.dumps([documents.fingerprint(), settings.model_dump()], sort_keys=True).encode()
    ).hexdigest()
    mark = work / "run.sha256"
    # A run that was killed before it could leave its mark has nothing to lose either.
    if work.is_dir() and (restart or not (mark.is_file() or _has_work(work))):
        shutil.rmtree(work)
    if work.exists():
        if not mark.is_file() or mark.read_text() != identity:
            raise ConfigError(
                f"'{work}' holds an unfinished run with other data or settings; run that command again to finish it, "
                "pass --restart to discard it, or choose another --output"
            )
        _log.info("going on with the unfinished run in %s", work)
        return work
    work.mkdir(parents=True)
    temporary = work / "run.tmp"
    temporary.write_text(identity)
    os.replace(temporary, mark)
    return work
