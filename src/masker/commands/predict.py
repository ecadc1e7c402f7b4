"""``masker predict``: label every row of a source, a chunk at a time, so that files larger than memory work."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

from masker.commands.predict_options import PredictOptions
from masker.config import DataSettings
from masker.documents import Row, stream_rows
from masker.documents.texts import in_chunks
from masker.errors import ConfigError, NoRowsError
from masker.files import atomic_writer
from masker.model import Model
from masker.progress import progress_bar


def predict(folder: str, data: str, settings: DataSettings, options: PredictOptions, output: str | None = None) -> int:
    """Predict every row of ``data``, write one line for each, in order, and return their number.

    The file ``output`` appears once it is whole; ``None`` writes to standard output.
    """
    if output is not None and Path(output).expanduser().is_dir():
        raise ConfigError(f"--output '{output}' is a folder; name a file in it, or add --engine for one file per input")
    model = open_with_options(folder, options)
    with progress_bar(None, "predict", "doc") as bar:
        return predict_source(model, data, settings, options, output=output, advance=bar.update)


def open_with_options(folder: str, options: PredictOptions) -> Model:
    """Open a model as the options say.

    Raises:
        ConfigError: When it is a regression and ``--reject`` was given.
    """
    promise = options.false_alarm_rate, options.confidence, options.missed_rate
    model = Model.open(folder, options.backend, options.device, options.score, *promise)
    if options.reject and model.is_regression:
        raise ConfigError("a regression has no classes to be out of; leave --reject out")
    return model


def predict_source(
    model: Model,
    data: str,
    settings: DataSettings,
    options: PredictOptions,
    *,
    output: str | None = None,
    advance: Callable[[int], None] | None = None,
    one_of_many: bool = False,
) -> int:
    """Predict one source with an open model; a source that is ``one_of_many`` may have no rows."""
    source = stream_rows(data, settings, every_value=not one_of_many)
    if one_of_many:
        source = _if_any(source)
    if settings.skip_invalid:
        source = (row for row in source if not row.is_blank)
    written = 0
    with _open_output(output) as sink:
        write = _writer(sink, options)
        for chunk in in_chunks(islice(source, settings.limit)):
            predictions = model.predict([row.content for row in chunk], advance)
            for row, prediction in zip(chunk, predictions, strict=True):
                write(row, prediction.as_dict(reject=options.reject))
            sink.flush()
            written += len(chunk)
    return written


def _open_output(output: str | None) -> AbstractContextManager[IO[str]]:
    return nullcontext(sys.stdout) if output is None else atomic_writer(Path(output).expanduser(), newline="")


def _if_any(rows: Iterator[Row]) -> Iterator[Row]:
    with suppress(NoRowsError):
        yield from rows


def _writer(sink: IO[str], options: PredictOptions) -> Callable[[Row, dict[str, Any]], None]:
    def texts(row: Row) -> dict[str, Any]:
        if not options.with_text:
            return {}
        return {"text": row.text} if row.pair is None else {"text": row.text, "text_pair": row.pair}

    def write_json(row: Row, values: dict[str, Any]) -> None:
        sink.write(json.dumps({**texts(row), **values}, ensure_ascii=False) + "\n")

    table: list[Any] = []

    def write_csv(row: Row, values: dict[str, Any]) -> None:
        record = {**texts(row), **{name: _in_a_cell(value) for name, value in values.items()}}
        if not table:
            table.append(csv.DictWriter(sink, list(record)))
            table[0].writeheader()
        table[0].writerow(record)

    return write_json if options.form == "jsonl" else write_csv


def _in_a_cell(value: Any) -> Any:
    """A list as a table writes it, which is how it is read, too."""
    return ";".join(map(str, value)) if isinstance(value, list) else value
