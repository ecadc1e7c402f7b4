"""Predict shards: open the model once, then take one shard after another."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from masker.commands.predict import open_with_options, predict_source
from masker.commands.predict_options import PredictOptions
from masker.commands.shard_files import Shard, finished_rows, forget_origin, write_origin
from masker.config import DataSettings
from masker.errors import DataError, MaskerError, ModelError
from masker.files import file_sha256, folder_sha256
from masker.model import Model
from masker.provenance import provenance
from masker.ray.cluster import limit_threads

#: The data settings that matter for reading texts.
_READING = ("text_column", "text_pair_column", "label_column", "encoding", "limit", "skip_invalid", "where")


@dataclass(frozen=True)
class ShardJob:
    """What to do with every shard; plain data that can be sent to other processes."""

    model: str
    model_sha256: str
    output: str
    settings: DataSettings
    options: PredictOptions

    def made_from(self, shard: Shard) -> dict[str, Any]:
        """What the output of a shard depends on. Changing this form makes every existing output obsolete."""
        names = ["with_text", "reject", "score", "false_alarm_rate"]
        if self.options.confidence is not None:  # outputs of earlier versions stay valid
            names.append("confidence")
        if self.options.missed_rate is not None:
            names.append("missed_rate")
        return {
            "model_sha256": self.model_sha256,
            "backend": self.options.backend,
            "input_sha256": file_sha256(Path(shard.source)),
            "options": {
                **self.settings.model_dump(include=set(_READING)),
                "format": self.options.form,
                **{name: getattr(self.options, name) for name in names},
            },
        }


@dataclass(frozen=True)
class ShardResult:
    """What became of one shard."""

    shard: Shard
    state: Literal["predicted", "kept", "failed"]  # kept: a valid output existed already
    rows: int = 0  # of the output
    message: str = ""  # one line, if it failed
    outdated: bool = False  # whether the output replaced one made from another model, input or option

    @classmethod
    def failure(cls, shard: Shard, reason: str) -> ShardResult:
        return cls(shard, "failed", message=reason if shard.source in reason else f"{shard.source}: {reason}")


class ShardWorker:
    """Predicts shards with one model; without a number of CPU ``threads`` the environment decides."""

    def __init__(self, job: ShardJob, threads: int | None = None) -> None:
        self.job, self.threads = job, threads
        self._model: Model | None = None

    def prepare(self) -> None:
        self._open()

    def work(self, shard: Shard) -> ShardResult:
        """Predict one shard, unless a valid output exists; a problem with the shard is part of the result."""
        try:
            return self._predict(shard)
        except MaskerError as error:
            return ShardResult.failure(shard, str(error))
        except OSError as error:
            return ShardResult.failure(shard, error.strerror or str(error))

    def _predict(self, shard: Shard) -> ShardResult:
        output = Path(self.job.output)
        made_from = self.job.made_from(shard)
        rows = finished_rows(output, shard.name, made_from)
        if rows is not None:
            return ShardResult(shard, "kept", rows)
        target = output / shard.name
        for leftover in target.parent.glob(f".{glob.escape(target.name)}.*"):  # from a worker that was killed
            leftover.unlink(missing_ok=True)
        outdated = forget_origin(output, shard.name)
        rows = predict_source(
            self._open(), shard.source, self.job.settings, self.job.options, output=str(target), one_of_many=True
        )
        if file_sha256(Path(shard.source)) != made_from["input_sha256"]:
            target.unlink()
            raise DataError(f"{shard.source}: changed while it was being read; run the same command again")
        write_origin(output, shard, made_from, rows, provenance())
        return ShardResult(shard, "predicted", rows, outdated=outdated)

    def _open(self) -> Model:
        if self._model is None:
            if self.threads is not None:
                limit_threads(self.threads)
            model = open_with_options(self.job.model, self.job.options)
            # Another machine may have a different folder at the same path.
            if self.threads is not None and folder_sha256(self.job.model) != self.job.model_sha256:
                raise ModelError(f"'{self.job.model}' is not the same model on all machines; put it on shared storage")
            self._model = model
        return self._model
