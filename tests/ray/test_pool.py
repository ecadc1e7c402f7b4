"""Shards on Ray: the same files as in one process, whatever happens to a worker."""

from __future__ import annotations

import os
import signal
from collections import Counter
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from masker.commands import predict_shards
from masker.commands import predict_shards as run_module
from masker.commands.shard_files import Shard, find_shards
from masker.commands.shard_worker import ShardResult, ShardWorker
from masker.config import DataSettings
from masker.errors import DataError, MaskerError, ModelError
from masker.ray.cluster import Cluster
from masker.ray.pool import ATTEMPTS, predict_on_ray


class Mortal(ShardWorker):
    """Is killed in the middle of the first shard that any worker takes: half of it is written."""

    def predict(self, shard: Shard) -> ShardResult:
        try:
            os.close(os.open(Path(self.job.output) / "killed", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return super().predict(shard)
        (Path(self.job.output) / f".{shard.name}.half").write_text("half a ro")
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("not reached")


def test_a_killed_worker_loses_nothing(ray_session, shard_model, shard_folder, tmp_path, monkeypatch, caplog):
    """Four of the five shards can be predicted, and the outputs are those of the local engine."""
    expected, output = tmp_path / "expected", tmp_path / "out"
    with pytest.raises(DataError):
        predict_shards(str(shard_model), str(shard_folder), expected, DataSettings())
    output.mkdir()
    caplog.clear()
    results: list[ShardResult] = []
    add = run_module._Tally.add
    monkeypatch.setattr(run_module._Tally, "add", lambda tally, result: (results.append(result), add(tally, result)))
    monkeypatch.setattr(run_module, "predict_on_ray", partial(predict_on_ray, worker=Mortal))
    with pytest.raises(DataError, match="1 of 5 shards failed"):
        predict_shards(str(shard_model), str(shard_folder), output, DataSettings(), engine="ray", workers=2)

    assert sorted(result.shard.name for result in results) == sorted(
        shard.name for shard in find_shards(str(shard_folder), output, "jsonl")
    )
    (broken,) = [result.message for result in results if result.state == "failed"]
    assert broken.startswith(f"{shard_folder / 'broken.jsonl'}: line 2 is not valid JSON")
    assert caplog.text.count("its worker was killed; another one takes it") == 1
    assert (output / "killed").exists()
    found, wanted = (
        {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.jsonl")}
        for folder in (output, expected)
    )
    assert found == wanted
    assert len(found) == 4
    assert not list(output.rglob(".*")), "the half-written shard is gone"


# What follows needs no processes: a Ray in which calls happen at once and the death of a worker is an exception.


class Death(Exception):
    pass


class Mishap(Exception):
    cause = ValueError("a bug\nof ours")

    def __str__(self):
        return "Traceback…\nValueError: a bug"


class PretendedRay:
    exceptions = SimpleNamespace(RayActorError=Death, RayTaskError=Mishap)

    def __init__(self):
        self.hired = 0

    def remote(self, kind):
        def make(*arguments):
            self.hired += 1
            member = kind(*arguments)
            call = lambda name: SimpleNamespace(remote=lambda *a: (getattr(member, name), a))  # noqa: E731
            return SimpleNamespace(prepare=call("prepare"), predict=call("predict"))

        return SimpleNamespace(options=lambda **options: SimpleNamespace(remote=make))

    def wait(self, references, num_returns):
        return references[:1], references[1:]

    def get(self, reference):
        function, arguments = reference
        return function(*arguments)


DEATHS: Counter[Shard] = Counter()


class Pretended:
    def __init__(self, job, threads):
        pass

    def prepare(self):
        return None

    def predict(self, shard):
        if "deadly" in shard.name:
            raise Death("The actor died.\nWorker exit type: SYSTEM_ERROR")
        if "once" in shard.name and not DEATHS[shard]:
            DEATHS[shard] += 1
            raise Death
        if "bug" in shard.name:
            raise Mishap
        return ShardResult(shard, "predicted", 1)


def pool(worker, *names):
    ray = PretendedRay()
    results: list[ShardResult] = []
    shards = [Shard(f"/in/{name}", name) for name in names]
    predict_on_ray(Cluster(ray, 2, 1, 1), None, shards, results.append, worker)
    return {result.shard.name: result for result in results}, ray.hired


def test_a_shard_that_kills_every_worker_fails_alone():
    results, hired = pool(Pretended, "a", "deadly", "b", "once", "c")
    assert {name: result.state for name, result in results.items()} == {
        **dict.fromkeys(["a", "b", "c", "once"], "predicted"),
        "deadly": "failed",
    }
    assert results["deadly"].message == f"/in/deadly: killed {ATTEMPTS} workers"
    assert hired == 2 + ATTEMPTS + 1


def test_a_bug_is_one_line_of_its_shard():
    results, hired = pool(Pretended, "bug", "a")
    assert results["a"].state == "predicted"
    assert results["bug"].message == "/in/bug: unexpected ValueError: a bug of ours"
    assert hired == 2


def test_workers_that_die_at_once_are_not_hired_for_ever():
    class Weak(Pretended):
        def prepare(self):
            raise Death("The actor died.\nMemory was used up")

    with pytest.raises(
        MaskerError, match=r"do not survive opening the model \(Memory was used up\); .*fewer --workers"
    ):
        pool(Weak, "a", "b")


def test_a_model_that_does_not_open_stops_all():
    class Blind(Pretended):
        def prepare(self):
            return "there is no model"

    with pytest.raises(ModelError, match=r"^there is no model$"):
        pool(Blind, "a", "b")
