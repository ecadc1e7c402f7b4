"""Predicting a whole source, a chunk at a time, so that a file larger than memory works."""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

from masker.classifier import STREAM_CHUNK, MaskerClassifier
from masker.config import DataSettings
from masker.documents import Row, stream_rows
from masker.errors import ConfigError, NoRowsError
from masker.progress import progress_bar

FIELDS = ("label", "confidence", "p_value", "ood_score", "is_ood")


def write_predictions(
    model: str,
    data: str,
    settings: DataSettings,
    *,
    form: str = "jsonl",
    output: str | None = None,
    with_text: bool = False,
    reject: bool = False,
    backend: str | None = None,
    score: str | None = None,
    false_alarm_rate: float | None = None,
) -> int:
    """Predict every row of ``data`` and write one line for each, in order.

    Args:
        model: A model folder.
        data: Any source of :func:`masker.documents.stream_rows`.
        settings: Columns, encoding, limit.
        form: ``jsonl`` or ``csv``.
        output: A file, which appears only when it is whole; ``None`` writes to standard output.
        with_text: Repeat the input text (and its pair) in front.
        reject: Give an out-of-distribution text the label ``None``.
        backend: What runs the network; see :meth:`MaskerClassifier.load`, as for the next two.
        score: An out-of-distribution score in place of the model's own.
        false_alarm_rate: A rate in place of the model's own.

    Returns:
        The number of rows written.
    """
    if output is not None and Path(output).expanduser().is_dir():
        raise ConfigError(f"--output '{output}' is a folder; name a file in it, or add --engine for one file an input")
    classifier = MaskerClassifier.load(model, backend, score, false_alarm_rate)
    with progress_bar(None, "predict", "doc") as bar:
        return predict_source(
            classifier,
            data,
            settings,
            form=form,
            output=output,
            with_text=with_text,
            reject=reject,
            advance=bar.update,
        )


def check_rejects(classifier: MaskerClassifier) -> None:
    """Refuse ``--reject`` for a model that never rejects.

    Raises:
        ConfigError: For a regression.
    """
    if classifier.is_regression:
        raise ConfigError("a regression has no classes to be out of; leave --reject out")


def predict_source(
    classifier: MaskerClassifier,
    data: str,
    settings: DataSettings,
    *,
    form: str = "jsonl",
    output: str | None = None,
    with_text: bool = False,
    reject: bool = False,
    advance: Callable[[int], None] | None = None,
    one_of_many: bool = False,
) -> int:
    """The same with a model that is open already.

    ``advance`` hears how many rows were predicted. ``one_of_many``: the source is a file among others, which may have
    no row to predict.
    """
    if reject:
        check_rejects(classifier)
    source = stream_rows(data, settings, every_value=not one_of_many)
    if one_of_many:
        source = _if_any(source)
    if settings.skip_invalid:
        source = (row for row in source if row.text.strip() and (row.pair is None or row.pair.strip()))
    rows = islice(source, settings.limit)
    written = 0
    with _sink(output) as sink:
        write = _writer(sink, form, with_text)
        while chunk := list(islice(rows, STREAM_CHUNK)):
            texts = [row.text if row.pair is None else (row.text, row.pair) for row in chunk]
            for row, prediction in zip(chunk, classifier.predict_texts(texts, advance), strict=True):
                write(row, prediction.as_dict(reject=reject))
            sink.flush()
            written += len(chunk)
    return written


def _if_any(rows: Iterator[Row]) -> Iterator[Row]:
    """The rows of a source that may be empty."""
    with suppress(NoRowsError):
        yield from rows


def _writer(sink: IO[str], form: str, with_text: bool) -> Any:
    def texts(row: Row) -> dict[str, Any]:
        if not with_text:
            return {}
        return {"text": row.text} if row.pair is None else {"text": row.text, "text_pair": row.pair}

    if form == "jsonl":
        return lambda row, values: sink.write(json.dumps({**texts(row), **values}, ensure_ascii=False) + "\n")

    table: list[Any] = []

    def write_csv(row: Row, values: dict[str, Any]) -> None:
        record = {**texts(row), **values}
        if not table:
            table.append(csv.DictWriter(sink, list(record)))
            table[0].writeheader()
        table[0].writerow(record)

    return write_csv


@contextmanager
def _sink(output: str | None) -> Iterator[IO[str]]:
    if output is None:
        yield sys.stdout
        return
    path = Path(output).expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            yield file
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
