"""Predict a folder of files, the shards, in this process or on Ray."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from masker.commands.predict_options import PredictOptions
from masker.commands.shard_files import Shard, find_shards
from masker.commands.shard_worker import ShardJob, ShardResult, ShardWorker
from masker.config import DataSettings
from masker.errors import DataError
from masker.files import folder_sha256
from masker.modeling.model_folder import load_manifest
from masker.progress import progress_bar
from masker.ray.cluster import RayOptions, open_cluster
from masker.ray.pool import Crew, share_out

_log = logging.getLogger("masker")


@dataclass(frozen=True)
class ShardsSummary:
    """Shards predicted by this call, shards kept from an earlier one, and the rows of both."""

    predicted: int
    kept: int
    rows: int


def predict_shards(
    model: str,
    data: str,
    output: str | Path,
    settings: DataSettings,
    options: PredictOptions = PredictOptions(),  # noqa: B008 (frozen)
    *,
    ray: RayOptions | None = None,
) -> ShardsSummary:
    """Predict each file of a folder into a file of another folder.

    An output file appears once it is complete. A second call resumes: it keeps a file if model, input and options are
    those it was made from, and makes it again otherwise.

    Args:
        data: A folder of CSV, TSV, JSONL or Parquet files, or a pattern.
        settings: How to read each shard; a limit of rows applies to each.
        ray: Predict many shards at a time on Ray; ``None`` predicts one after another in this process.

    Raises:
        DataError: When shards failed; by then each was reported, and all others are done.
    """
    folder = Path(output).expanduser().absolute()
    shards = find_shards(data, folder, options.form)
    load_manifest(model)  # before anything is hashed or started
    source = str(Path(model).expanduser().absolute())
    job = ShardJob(source, folder_sha256(source), str(folder), settings, options)
    if ray is None:
        worker = ShardWorker(job)
        worker.prepare()
        return _tally(map(worker.work, shards), len(shards))
    with open_cluster(len(shards), ray.workers, ray.address, gpus=options.can_use_gpu) as cluster:
        arguments = (job, cluster.threads)
        crew = Crew(ShardWorker, arguments, _source_of, preparing="opening the model", give_up=ShardResult.failure)
        return _tally(share_out(cluster, crew, shards), len(shards))


def _source_of(shard: Shard) -> str:
    return shard.source


def _tally(results: Iterable[ShardResult], shards: int) -> ShardsSummary:
    """Count results, and report them as they arrive."""
    states: Counter[str] = Counter()
    rows = outdated = 0
    with progress_bar(shards, "predict", "shard") as bar:
        for result in results:
            states[result.state] += 1
            rows += result.rows
            outdated += result.outdated
            bar.update(1)
            if result.state == "failed":
                bar.clear()
                _log.error("%s", " ".join(result.message.split()))
    if outdated:
        _log.info("made again because model, input or options changed: %d", outdated)
    if states["failed"]:
        raise DataError(
            f"{states['failed']} of {shards} shards failed (see above); all others are done. "
            "Fix them and run the same command again"
        )
    if not rows:
        _log.warning("no shard has a row to predict; check the files and --where")
    return ShardsSummary(states["predicted"], states["kept"], rows)
