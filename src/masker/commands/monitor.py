"""``masker monitor``: has the traffic in a file changed since the model was calibrated?"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from masker.commands.time_order import TimeColumn, TimedScores, parse_time
from masker.config import DataSettings
from masker.documents import Row, stream_rows
from masker.documents.texts import STREAM_CHUNK, in_chunks
from masker.errors import ConfigError, DataError
from masker.files import write_json
from masker.model import Model
from masker.monitoring import DriftMonitor, MonitorSettings
from masker.monitoring.drift_monitor import calibration_fingerprint
from masker.progress import progress_bar

_log = logging.getLogger("masker")

CALIBRATION, TRAFFIC = "calibration", "traffic"


@dataclass(frozen=True)
class MonitorOptions:
    """How to watch.

    Attributes:
        time_column: Order the rows by it.
        state: File with what the last run knew; it is read if it exists, and written.
        reference: Compare with the ``calibration``, or with the past of the ``traffic`` only.
        promise: The settings that differ from the defaults.
        backend, device, score: As for predictions.
    """

    time_column: str | None = None
    state: str | None = None
    reference: str = CALIBRATION
    promise: dict[str, Any] = field(default_factory=dict)
    backend: str | None = None
    device: str = "auto"
    score: str | None = None


def monitor(folder: str, data: str, settings: DataSettings, options: MonitorOptions) -> dict[str, Any]:
    """Judge every row of ``data``, observe the scores, and return the state of the monitor, JSON-ready.

    Rows are read in chunks. With a time column 20 bytes of each are kept, to be ordered in the end.

    Raises:
        ConfigError: When the model is a regression, or the state belongs to another model or other settings.
        DataError: When the data, or the file of the state, cannot be used.
    """
    model = Model.open(folder, options.backend, options.device, options.score)
    if model.is_regression:
        raise ConfigError("a regression has no classes to be out of; monitor a classifier")
    watch = open_monitor(model, options)
    with progress_bar(None, "monitor", "doc") as bar:
        if options.time_column is None:
            for chunk in _chunks(data, settings):
                judged = model.judge([row.content for row in chunk], bar.update)
                watch.observe(judged.scores, [model.labels[place] for place in judged.predicted])
        else:
            column = TimeColumn(options.time_column, data, watch.last_time)
            scored = TimedScores()
            for rows, times in _new_rows(data, settings, column):
                judged = model.judge([row.content for row in rows], bar.update)
                scored.add(times, judged.scores, judged.predicted)
            _observe_in_order(watch, scored, column)
    if options.state is not None:
        write_json(Path(options.state).expanduser(), watch.to_json())
    return {"model": str(folder), "data": data, **watch.state()}


def open_monitor(model: Model, options: MonitorOptions) -> DriftMonitor:
    """The monitor of the last run, if there is a state, or a new one."""
    calibration = model.require_detector("monitor").calibration
    from_traffic = options.reference == TRAFFIC
    scores = np.empty(0) if from_traffic else calibration.scores
    predicted = np.empty(0, dtype=np.int64) if from_traffic else calibration.predicted
    path = None if options.state is None else Path(options.state).expanduser()
    if path is None or not path.exists():
        return DriftMonitor(scores, predicted, model.labels, MonitorSettings(**options.promise))
    try:
        watch = DriftMonitor.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, DataError) as error:
        raise DataError(f"--state '{path}': {error}; name another file to start anew") from None
    if watch.reference != calibration_fingerprint(np.asarray(scores, dtype=np.float64), model.labels):
        raise ConfigError(
            f"--state '{path}' belongs to another model, calibration, score or --reference; name another file to "
            "start anew"
        )
    for name, value in options.promise.items():
        if getattr(watch.settings, name) != value:
            raise ConfigError(
                f"--state '{path}' was begun with --{name.replace('_', '-')} {getattr(watch.settings, name)}; got "
                f"{value}; leave it out, or name another file to start anew"
            )
    return watch


def _chunks(data: str, settings: DataSettings, time: TimeColumn | None = None) -> Iterator[list[Row]]:
    if time is None:
        source = stream_rows(data, settings)
    else:
        settings = settings.model_copy(update={"label_column": time.name})
        source = stream_rows(data, settings, require_labels=True, label_role="time")
    if settings.skip_invalid:
        source = (row for row in source if not row.is_blank)
        source = source if time is None else (row for row in source if parse_time(row.label) is not None)
    return in_chunks(islice(source, settings.limit))


def _new_rows(data: str, settings: DataSettings, column: TimeColumn) -> Iterator[tuple[list[Row], list[float]]]:
    """Rows that came after those of the last run, and their times."""
    seen = 0
    for chunk in _chunks(data, settings, column):
        timed = [(row, column.read(row)) for row in chunk]
        new = [(row, time) for row, time in timed if column.is_new(time)]
        seen += len(timed) - len(new)
        if new:
            yield [row for row, _ in new], [time for _, time in new]
    if seen:
        _log.info("left out %d rows up to %s, which an earlier run has seen", seen, column.last)


def _observe_in_order(watch: DriftMonitor, scored: TimedScores, column: TimeColumn) -> None:
    times, scores, predicted, late = scored.in_order()
    if not len(times):
        return
    first, last = column.shown(times[[0, -1]])
    moved = f"{late} of them came after later ones" if late else "they were in order already"
    _log.info("%d rows by column '%s', from %s to %s; %s", len(times), column.name, first, last, moved)
    for at in range(0, len(times), STREAM_CHUNK):
        part = slice(at, at + STREAM_CHUNK)
        watch.observe(scores[part], [watch.classes[place] for place in predicted[part]], column.shown(times[part]))
