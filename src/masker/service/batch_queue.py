"""Requests wait here and are scored together.

While one batch is scored in a thread, the next one gathers; only an idle queue waits a moment for more requests. First
come, first served; but a request that is larger than a batch takes turns with those behind it, so that it holds nobody
up.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Generic, TypeVar

from masker.documents.texts import Text
from masker.service.failures import overloaded, unavailable
from masker.service.service_options import ServiceOptions

M = TypeVar("M")
A = TypeVar("A")

#: UTF-8 bytes that count as one token before a text is tokenized.
BYTES_PER_TOKEN = 4
#: Tokens that any text has: the special ones.
_SPECIAL = 2
#: Share of the last batch in the measured speed.
_NEWEST = 0.2
#: Seconds between looks for requests that have waited too long.
_LOOK = 0.25


@dataclass(eq=False)
class _Job(Generic[M, A]):
    """One request: its texts, how many of them were taken, and the answers so far."""

    model: M
    texts: Sequence[Text]
    tokens: list[int]
    answered: asyncio.Future[list[A]]
    deadline: float
    answers: list[A | None]
    missing: int
    taken: int = 0


@dataclass(frozen=True)
class Batch(Generic[M, A]):
    """Texts that are scored together, and the requests they belong to."""

    model: M
    texts: list[Text]
    places: list[tuple[_Job[M, A], int]]
    tokens: int


class BatchQueue(Generic[M, A]):
    """A bounded queue in front of a function that answers many texts at once.

    Args:
        score: Answers texts with a model; runs in a thread.
        options: Limits.

    Attributes:
        waiting: Texts that wait.
        speed: Tokens scored in a second, estimated from the last batches; 0 at the start.
    """

    def __init__(self, score: Callable[[M, list[Text]], Sequence[A]], options: ServiceOptions) -> None:
        self._score, self._options = score, options
        self._jobs: deque[_Job[M, A]] = deque()
        self._open: set[_Job[M, A]] = set()  # not answered yet
        self._tasks: list[asyncio.Task[None]] = []
        self._waiting_tokens = 0
        self.waiting, self.speed = 0, 0.0

    @property
    def is_running(self) -> bool:
        """Whether requests are accepted."""
        return bool(self._tasks)

    async def start(self) -> None:
        """Begin to accept requests."""
        self._arrival = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "masker-score")
        self._tasks = [asyncio.create_task(self._work()), asyncio.create_task(self._expire())]

    async def stop(self) -> None:
        """Accept nothing more, finish what was accepted, stop."""
        tasks, self._tasks = self._tasks, []
        while self._open:
            await asyncio.wait([job.answered for job in self._open])
            await asyncio.sleep(0)  # those who waited take note
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._thread.shutdown()

    async def submit(self, model: M, texts: Sequence[Text], longest: int | None = None) -> list[A]:
        """The answers for the texts of one request.

        Args:
            model: Answers them; texts for different models are never mixed.
            texts: The texts.
            longest: Tokens of a text that the model reads; ``None`` if it reads all.

        Raises:
            ServiceError: 429 when too many texts wait already, 503 when the queue is stopped or an answer takes too
                long.
        """
        self.require_room()
        if not texts:
            return []
        loop = asyncio.get_running_loop()
        tokens = [_estimated_tokens(text, longest) for text in texts]
        deadline = monotonic() + self._options.request_timeout
        job = _Job(model, texts, tokens, loop.create_future(), deadline, [None] * len(texts), len(texts))
        self._jobs.append(job)
        self._open.add(job)
        self.waiting += len(texts)
        self._waiting_tokens += sum(tokens)
        self._arrival.set()
        try:
            return await job.answered
        finally:
            self._open.discard(job)

    def require_room(self) -> None:
        """Refuse when the queue does not run, is full, or would take longer than a request may.

        Raises:
            ServiceError: 503 or 429.
        """
        if not self._tasks:
            raise unavailable("not_ready", "the service is starting or stopping; try again soon")
        wait = self._waiting_tokens / self.speed if self.speed else 0.0
        if self.waiting >= self._options.max_queue or wait > self._options.request_timeout:
            raise overloaded(f"{self.waiting} texts are waiting already; try again later", wait)

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if not self._jobs:
                self._arrival.clear()
                await self._arrival.wait()
                await asyncio.sleep(self._options.batch_wait_ms / 1000)
            batch = self._take()
            if batch is None:
                continue
            start = monotonic()
            try:
                answers = await loop.run_in_executor(self._thread, self._score, batch.model, batch.texts)
            except Exception as error:
                await self._answer_apart(batch, error)
            else:
                self._measure(batch.tokens / max(1e-6, monotonic() - start))
                self._answer(batch.places, answers)

    async def _answer_apart(self, batch: Batch[M, A], error: Exception) -> None:
        """Score the requests of a failed batch one by one, so that only those at fault fail."""
        loop = asyncio.get_running_loop()
        jobs = {id(job): job for job, _ in batch.places}
        for job in jobs.values():
            places = [place for place in batch.places if place[0] is job]
            try:
                if len(jobs) == 1:
                    raise error
                texts = [job.texts[place] for _, place in places]
                answers = await loop.run_in_executor(self._thread, self._score, batch.model, texts)
            except Exception as reason:
                self._fail(job, reason)
            else:
                self._answer(places, answers)

    def _answer(self, places: list[tuple[_Job[M, A], int]], answers: Sequence[A]) -> None:
        for (job, place), answer in zip(places, answers, strict=True):
            job.answers[place] = answer
            job.missing -= 1
            if not job.missing and not job.answered.done():
                job.answered.set_result([one for one in job.answers if one is not None])

    def _take(self) -> Batch[M, A] | None:
        """The next batch: texts of waiting requests for the same model, within the budget, at least one."""
        places: list[tuple[_Job[M, A], int]] = []
        budget = left = self._options.max_batch_tokens
        while self._jobs:
            job = self._jobs[0]
            if job.answered.done():  # given up, or its caller is gone
                self._drop(job)
                continue
            if places and job.model is not places[0][0].model:
                break
            while job.taken < len(job.texts) and (not places or job.tokens[job.taken] <= left):
                places.append((job, job.taken))
                left -= job.tokens[job.taken]
                job.taken += 1
            if job.taken < len(job.texts):
                if sum(job.tokens[job.taken :]) > budget:
                    self._jobs.rotate(-1)  # the others first; what fits into the next batch stays at the front
                break
            self._jobs.popleft()
        if not places:
            return None
        self.waiting -= len(places)
        self._waiting_tokens -= budget - left
        return Batch(places[0][0].model, [job.texts[place] for job, place in places], places, budget - left)

    def _measure(self, speed: float) -> None:
        self.speed += (speed - self.speed) * (_NEWEST if self.speed else 1.0)

    async def _expire(self) -> None:
        """Give up requests that have waited too long, even if scoring hangs."""
        seconds = self._options.request_timeout
        while True:
            await asyncio.sleep(min(_LOOK, seconds))
            now = monotonic()
            for job in [job for job in self._open if job.deadline < now]:
                self._fail(job, unavailable("timeout", f"no answer within {seconds:g} s; send fewer texts at a time"))

    def _fail(self, job: _Job[M, A], error: Exception) -> None:
        if job in self._jobs:
            self._drop(job)
        if not job.answered.done():
            job.answered.set_exception(error)

    def _drop(self, job: _Job[M, A]) -> None:
        self._jobs.remove(job)
        self.waiting -= len(job.texts) - job.taken
        self._waiting_tokens -= sum(job.tokens[job.taken :])


def _estimated_tokens(text: Text, longest: int | None) -> int:
    if isinstance(text, str):
        size = len(text) if text.isascii() else len(text.encode())
    else:
        size = sum(len(part.encode()) for part in text)
    tokens = _SPECIAL + math.ceil(size / BYTES_PER_TOKEN)
    return tokens if longest is None else min(tokens, longest)
