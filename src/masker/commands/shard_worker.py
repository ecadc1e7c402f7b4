"""What predicts shards: opens the model once, then takes one shard after the other."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from masker.classifier import MaskerClassifier
from masker.commands.predict import check_rejects, predict_source
from masker.commands.shard_files import Shard, finished_rows, forget_origin, write_origin
from masker.config import DataSettings
from masker.errors import DataError, MaskerError, ModelError
from masker.files import file_sha256, folder_sha256
from masker.provenance import provenance
from masker.ray.cluster import limit_threads

#: The settings that matter for reading texts.
_READING = ("text_column", "text_pair_column", "label_column", "encoding", "limit", "skip_invalid", "where")


@dataclass(frozen=True)
class ShardJob:
    """What is to be done with every shard; plain data that goes to other processes."""

    model: str
    model_sha256: str
    output: str
    settings: DataSettings
    form: str
    with_text: bool
    backend: str | None
    reject: bool = False
    score: str | None = None
    false_alarm_rate: float | None = None


@dataclass(frozen=True)
class ShardResult:
    """What became of one shard.

    Attributes:
        shard: The shard.
        state: ``kept`` when its output was there already.
        rows: Rows of the output.
        message: One line, where it failed.
        outdated: Whether an output from another model, input or option was replaced.
    """

    shard: Shard
    state: Literal["predicted", "kept", "failed"]
    rows: int = 0
    message: str = ""
    outdated: bool = False


class ShardWorker:
    """Predicts shards with one model.

    Args:
        job: What to do.
        threads: Cores to use; ``None`` leaves that to the environment.
    """

    def __init__(self, job: ShardJob, threads: int | None = None) -> None:
        self.job = job
        self.threads = threads
        self._classifier: MaskerClassifier | None = None

    def prepare(self) -> str | None:
        """Open the model; the reason why that cannot be done, or ``None``. (A worker that raises here looks dead.)"""
        try:
            self._open()
        except MaskerError as error:
            return str(error)
        return None

    def predict(self, shard: Shard) -> ShardResult:
        """Predict one shard, unless its output is there and still true. What is wrong with it ends up in the result."""
        try:
            return self._predict(shard)
        except MaskerError as error:
            message = str(error)
        except OSError as error:
            message = error.strerror or str(error)
        message = message if shard.source in message else f"{shard.source}: {message}"
        return ShardResult(shard, "failed", message=message)

    def _predict(self, shard: Shard) -> ShardResult:
        output, source = Path(self.job.output), Path(shard.source)
        made_from = self._made_from(shard)
        rows = finished_rows(output, shard.name, made_from)
        if rows is not None:
            return ShardResult(shard, "kept", rows)
        target = output / shard.name
        for leftover in target.parent.glob(f".{glob.escape(target.name)}.*"):  # of a worker that was killed
            leftover.unlink(missing_ok=True)
        outdated = forget_origin(output, shard.name)
        rows = predict_source(
            self._open(),
            shard.source,
            self.job.settings,
            form=self.job.form,
            output=str(target),
            with_text=self.job.with_text,
            reject=self.job.reject,
            one_of_many=True,
        )
        if file_sha256(source) != made_from["input_sha256"]:
            target.unlink()
            raise DataError(f"{shard.source}: changed while it was read; run the same command again")
        write_origin(output, shard, made_from, rows, provenance())
        return ShardResult(shard, "predicted", rows, outdated=outdated)

    def _made_from(self, shard: Shard) -> dict[str, Any]:
        job = self.job
        return {
            "model_sha256": job.model_sha256,
            "backend": job.backend,
            "input_sha256": file_sha256(Path(shard.source)),
            "options": {
                **job.settings.model_dump(include=set(_READING)),
                "format": job.form,
                "with_text": job.with_text,
                "reject": job.reject,
                "score": job.score,
                "false_alarm_rate": job.false_alarm_rate,
            },
        }

    def _open(self) -> MaskerClassifier:
        if self._classifier is None:
            if self.threads is not None:
                limit_threads(self.threads)
            job = self.job
            classifier = MaskerClassifier.load(job.model, job.backend, job.score, job.false_alarm_rate)
            # Another machine may have another folder under the same path.
            if self.threads is not None and folder_sha256(self.job.model) != self.job.model_sha256:
                raise ModelError(f"'{self.job.model}' is not the same model on all machines; put it on shared storage")
            if job.reject:
                check_rejects(classifier)
            self._classifier = classifier
        return self._classifier
