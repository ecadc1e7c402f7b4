"""Pieces of work over workers that die: in a pretended Ray, where calls happen at once and a death is an exception.

The same over real processes, one of which is killed, is in ``tests/commands/test_predict_shards.py``.
"""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

from masker.errors import MaskerError, ModelError
from masker.ray.cluster import Cluster
from masker.ray.pool import ATTEMPTS, Crew, share_out


class Death(Exception):
    pass


class Mishap(Exception):
    def __init__(self, cause):
        super().__init__(f"Traceback…\n{type(cause).__name__}: {cause}")
        self.cause = cause


class PretendedRay:
    exceptions = SimpleNamespace(RayActorError=Death, RayTaskError=Mishap)

    def __init__(self):
        self.hired, self.options = 0, {}

    def remote(self, kind):
        def make(*arguments):
            self.hired += 1
            member = kind(*arguments)
            call = lambda name: SimpleNamespace(remote=lambda *a: (getattr(member, name), a))  # noqa: E731
            return SimpleNamespace(prepare=call("prepare"), work=call("work"))

        def options(**values):
            self.options = values
            return SimpleNamespace(remote=make)

        return SimpleNamespace(options=options)

    def wait(self, references, num_returns):
        return references[:1], references[1:]

    def get(self, reference):
        function, arguments = reference
        try:
            return function(*arguments)
        except Death:
            raise
        except Exception as error:
            raise Mishap(error) from error


class Worker:
    def __init__(self, deaths):
        self.deaths = deaths

    def prepare(self):
        pass

    def work(self, piece):
        if "deadly" in piece:
            raise Death("The actor died.\nWorker exit type: SYSTEM_ERROR")
        if "once" in piece and not self.deaths[piece]:
            self.deaths[piece] += 1
            raise Death
        if "bug" in piece:
            raise ValueError("a bug\nof ours")
        return piece, "done"


def pool(worker, *pieces, **cluster):
    ray = PretendedRay()
    crew = Crew(worker, (Counter(),), str.upper, "opening the model", lambda piece, reason: (piece, reason))
    results = dict(share_out(Cluster(ray, 2, 1, 1, **cluster), crew, pieces))
    return results, ray


def test_a_piece_that_kills_every_worker_fails_alone(caplog):
    results, ray = pool(Worker, "a", "deadly", "b", "once", "c")
    assert results == {**dict.fromkeys(["a", "b", "c", "once"], "done"), "deadly": f"killed {ATTEMPTS} workers"}
    assert ray.hired == 2 + ATTEMPTS + 1
    assert caplog.text.count("DEADLY: its worker was killed; retrying on another one") == ATTEMPTS - 1
    assert caplog.text.count("ONCE: its worker was killed; retrying on another one") == 1


def test_a_bug_is_one_line_of_its_piece():
    results, ray = pool(Worker, "bug", "a")
    assert results == {"a": "done", "bug": "unexpected ValueError: a bug of ours"}
    assert ray.hired == 2


def test_workers_that_die_at_once_are_not_replaced_for_ever():
    class Weak(Worker):
        def prepare(self):
            raise Death("The actor died.\nMemory was used up")

    with pytest.raises(
        MaskerError,
        match=r"^3 workers were killed while opening the model \(Memory was used up\); .*fewer --workers$",
    ):
        pool(Weak, "a", "b")


def test_a_problem_that_all_workers_have_ends_the_run():
    class Blind(Worker):
        def prepare(self):
            raise ModelError("there is no model")

    with pytest.raises(ModelError, match=r"^there is no model$"):
        pool(Blind, "a", "b")


def test_a_bug_in_the_preparation_keeps_its_traceback():
    class Broken(Worker):
        def prepare(self):
            raise ValueError("a bug")

    with pytest.raises(Mishap, match="Traceback"):
        pool(Broken, "a")


@pytest.mark.parametrize("gpus", [0, 1])
def test_every_worker_requests_its_share_of_the_cluster(gpus):
    _, ray = pool(Worker, "a", num_gpus=gpus)
    assert ray.options == {"num_cpus": 1, "num_gpus": gpus, "max_restarts": 0}
