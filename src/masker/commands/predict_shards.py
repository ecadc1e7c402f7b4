"""A sharded prediction from start to end."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from masker.commands.shard_files import find_shards
from masker.commands.shard_worker import ShardJob, ShardResult, ShardWorker
from masker.config import DataSettings
from masker.errors import DataError, ModelError
from masker.files import folder_sha256
from masker.modeling.model_folder import load_manifest
from masker.progress import progress_bar
from masker.ray.cluster import open_cluster
from masker.ray.pool import predict_on_ray

_log = logging.getLogger("masker")


@dataclass(frozen=True)
class ShardsSummary:
    """How many shards were predicted now and how many were there already, and the rows of both."""

    predicted: int
    kept: int
    rows: int


def predict_shards(
    model: str,
    data: str,
    output: str | Path,
    settings: DataSettings,
    *,
    form: str = "jsonl",
    with_text: bool = False,
    reject: bool = False,
    backend: str | None = None,
    score: str | None = None,
    false_alarm_rate: float | None = None,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
) -> ShardsSummary:
    """Predict every file of a folder into a file of another folder.

    Files appear when they are whole. Calling it again goes on: a file is kept if model, input and options are those it
    was made from, and made again otherwise.

    Args:
        model: A model folder.
        data: A folder of CSV, TSV, JSONL or Parquet files, or a pattern.
        output: The output folder.
        settings: Columns, encoding, and the limit of rows for each shard.
        form: ``jsonl`` or ``csv``.
        with_text: Repeat the input text (and its pair) in front.
        reject: Give an out-of-distribution text the label ``None``.
        backend: What runs the network; see :meth:`masker.MaskerClassifier.load`, as for the next two.
        score: An out-of-distribution score in place of the model's own.
        false_alarm_rate: A rate in place of the model's own.
        engine: ``local``, one after the other in this process, or ``ray``.
        workers: For ``ray``, how many shards are predicted at a time; ``None`` takes one for each core.
        address: For ``ray``, a running cluster; see :func:`masker.ray.cluster.open_cluster`.

    Raises:
        DataError: When shards failed; each was named by then, and all others are done.
        MaskerError: When there is nothing to do, or the model cannot be opened.
    """
    folder = Path(output).expanduser().absolute()
    shards = find_shards(data, folder, form)
    load_manifest(model)  # before anything is hashed or started
    source = str(Path(model).expanduser().absolute())
    job = ShardJob(
        source,
        folder_sha256(source),
        str(folder),
        settings,
        form,
        with_text,
        backend,
        reject,
        score,
        false_alarm_rate,
    )
    if engine == "ray":
        with open_cluster(len(shards), workers, address) as cluster:
            tally = _Tally(len(shards))
            predict_on_ray(cluster, job, shards, tally.add)
    else:
        worker = ShardWorker(job)
        if problem := worker.prepare():
            raise ModelError(problem)
        tally = _Tally(len(shards))
        for shard in shards:
            tally.add(worker.predict(shard))
    return tally.close()


class _Tally:
    """Counts results and reports them as they come."""

    def __init__(self, shards: int) -> None:
        self.shards = shards
        self.bar: Any = progress_bar(shards, "predict", "shard")
        self.states: Counter[str] = Counter()
        self.rows = self.outdated = 0

    def add(self, result: ShardResult) -> None:
        self.states[result.state] += 1
        self.rows += result.rows
        self.outdated += result.outdated
        self.bar.update(1)
        if result.state == "failed":
            self.bar.clear()
            _log.error("%s", " ".join(result.message.split()))

    def close(self) -> ShardsSummary:
        self.bar.close()
        if self.outdated:
            _log.info("made again, because model, input or options have changed: %d", self.outdated)
        if self.states["failed"]:
            raise DataError(
                f"{self.states['failed']} of {self.shards} shards failed, as said above; the others are done. "
                "Run the same command again once they are mended"
            )
        if not self.rows:
            _log.warning("no shard has a row to predict; check the files and --where")
        return ShardsSummary(self.states["predicted"], self.states["kept"], self.rows)
