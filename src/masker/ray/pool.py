"""Share out pieces of work over a pool of Ray actors; a piece whose worker is killed goes to another worker."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from masker.errors import MaskerError
from masker.ray.cluster import Cluster

_log = logging.getLogger("masker")

#: How many workers a piece may kill before it is given up. A piece that kills every worker is itself at fault.
ATTEMPTS = 3

P = TypeVar("P", bound=Hashable)
P_contra = TypeVar("P_contra", contravariant=True)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class PoolWorker(Protocol[P_contra, R_co]):
    """A member of the pool."""

    def prepare(self) -> None:
        """Do what all pieces need, once. A :class:`MaskerError` raised here ends the whole run."""

    def work(self, piece: P_contra) -> R_co:
        """Do one piece. An exception raised here is a bug, which fails this piece only."""


@dataclass(frozen=True)
class Crew(Generic[P, R]):
    """Who works, and how to speak of the work."""

    worker: type[PoolWorker[P, R]]  # each lives in a process of its own
    arguments: tuple[Any, ...]  # what a worker is made with
    name: Callable[[P], str]  # what the log calls a piece
    preparing: str  # what ``prepare`` does, for the message when no worker survives it: "opening the model"
    give_up: Callable[[P, str], R]  # the result of a piece that could not be done, from it and a one-line reason


def share_out(cluster: Cluster, crew: Crew[P, R], pieces: Iterable[P]) -> Iterator[R]:
    """Yield the result of each piece, in the order in which they are finished.

    Raises:
        MaskerError: What ``prepare`` raised, or that no worker survives it.
    """
    ray = cluster.ray
    actor = ray.remote(crew.worker).options(**cluster.resources, max_restarts=0)
    waiting = deque(pieces)
    killed: Counter[P | None] = Counter()  # None: while preparing
    running: dict[Any, tuple[Any, P | None]] = {}

    def hire() -> None:
        member = actor.remote(*crew.arguments)
        running[member.prepare.remote()] = (member, None)

    for _ in range(cluster.workers):
        hire()
    while waiting or any(piece is not None for _, piece in running.values()):
        ((ready, *_), _) = ray.wait(list(running), num_returns=1)
        member, piece = running.pop(ready)
        try:
            result = ray.get(ready)
        except ray.exceptions.RayActorError as death:
            killed[piece] += 1
            if piece is None:
                _check_survival(killed[piece], crew.preparing, death)
            elif killed[piece] < ATTEMPTS:
                _log.warning("%s: its worker was killed; retrying on another one", crew.name(piece))
                waiting.appendleft(piece)
            else:
                yield crew.give_up(piece, f"killed {ATTEMPTS} workers")
            hire()
            continue
        except ray.exceptions.RayTaskError as error:
            if piece is None:
                raise error.cause if isinstance(error.cause, MaskerError) else error from None
            bug = f"{type(error.cause).__name__}: {error.cause}"
            result = crew.give_up(piece, f"unexpected {' '.join(bug.split())[:200]}")
        if piece is not None:
            yield result
        if waiting:
            following = waiting.popleft()
            running[member.work.remote(following)] = (member, following)


def _check_survival(killed: int, preparing: str, death: BaseException) -> None:
    if killed < ATTEMPTS:
        return
    # Ray quotes a whole traceback; its last line is the error itself.
    lines = [line.strip() for line in str(death).splitlines() if line.strip()] or [type(death).__name__]
    raise MaskerError(
        f"{killed} workers were killed while {preparing} ({' '.join(lines[-1].split())[:200]}); "
        "do they have enough memory? Use fewer --workers"
    ) from None
