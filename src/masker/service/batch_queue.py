"""Requests wait here and are scored together.

While one batch is scored in a thread, the next one gathers. A large request is spread over several batches, in turns
with the requests behind it, so that it holds nobody up.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Generic, TypeVar

from masker.documents.texts import Text
from masker.service.failures import ServiceError
from masker.service.service_options import ServiceOptions

M = TypeVar("M")
A = TypeVar("A")

#: UTF-8 bytes of a token before anything was measured.
BYTES_PER_TOKEN = 4.0


@dataclass(eq=False)
class _Job(Generic[M, A]):
    """One request: its texts, how far it has come, and its answers so far."""

    model: M
    texts: Sequence[Text]
    tokens: list[int]
    answered: asyncio.Future[list[A]]
    deadline: float
    taken: int = 0
    answers: dict[int, A] = field(default_factory=dict)


@dataclass(frozen=True)
class Scored(Generic[A]):
    """What scoring a batch gives: an answer for each text, and the tokens they had."""

    answers: Sequence[A]
    tokens: int


class BatchQueue(Generic[M, A]):
    """A bounded queue in front of a function that scores many texts at once.

    Args:
        score: Scores texts with a model; runs in a thread.
        options: Limits.
        scorers: Batches scored at a time.
    """

    def __init__(
        self, score: Callable[[M, list[Text]], Scored[A]], options: ServiceOptions, *, scorers: int = 1
    ) -> None:
        self._score, self._options, self._scorers = score, options, scorers
        self._jobs: deque[_Job[M, A]] = deque()
        self._arrival = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._threads: ThreadPoolExecutor | None = None
        self._bytes_per_token = BYTES_PER_TOKEN
        self.waiting = 0  # texts

    async def start(self) -> None:
        self._threads = ThreadPoolExecutor(self._scorers, "masker-score")
        self._tasks = [asyncio.create_task(self._work()) for _ in range(self._scorers)]

    @property
    def is_running(self) -> bool:
        return bool(self._tasks)

    async def stop(self) -> None:
        """Finish what was accepted, then stop."""
        while self._jobs or self.waiting:
            await asyncio.sleep(0.01)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        if self._threads is not None:
            self._threads.shutdown()

    async def submit(self, model: M, texts: Sequence[Text]) -> list[A]:
        """The answers for the texts of one request.

        Raises:
            ServiceError: 429 when too many texts wait already, 503 when the answer takes too long.
        """
        if not texts:
            return []
        if self.waiting >= self._options.max_queue:
            raise ServiceError(
                429, "overloaded", f"{self.waiting} texts are waiting already; try again soon", {"Retry-After": "1"}
            )
        loop = asyncio.get_running_loop()
        deadline = monotonic() + self._options.request_timeout
        job = _Job(model, texts, [self._estimate(text) for text in texts], loop.create_future(), deadline)
        self._jobs.append(job)
        self.waiting += len(texts)
        self._arrival.set()
        return await job.answered

    def _estimate(self, text: Text) -> int:
        size = len(text.encode()) if isinstance(text, str) else sum(len(part.encode()) for part in text)
        return 2 + math.ceil(size / self._bytes_per_token)

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        wait = self._options.batch_wait_ms / 1000
        while True:
            if not self._jobs:
                self._arrival.clear()
                await self._arrival.wait()
                if wait:
                    await asyncio.sleep(wait)
            batch = self._take()
            if not batch:
                continue
            model, texts = batch[0][0].model, [job.texts[place] for job, place in batch]
            try:
                scored = await loop.run_in_executor(self._threads, self._score, model, texts)
            except Exception as error:
                for job in {id(job): job for job, _ in batch}.values():
                    self._fail(job, error)
                self.waiting -= len(batch)
                continue
            self.waiting -= len(batch)
            for (job, place), answer in zip(batch, scored.answers, strict=True):
                job.answers[place] = answer
                if len(job.answers) == len(job.texts) and not job.answered.done():
                    job.answered.set_result([job.answers[n] for n in range(len(job.texts))])

    def _take(self) -> list[tuple[_Job[M, A], int]]:
        """The next batch: texts of waiting requests for the same model, within the budget."""
        batch: list[tuple[_Job[M, A], int]] = []
        left = self._options.max_batch_tokens
        now = monotonic()
        while self._jobs and left > 0:
            job = self._jobs[0]
            if batch and job.model is not batch[0][0].model:
                break
            self._jobs.popleft()
            if job.answered.done() or job.deadline < now:
                self._give_up(job)
                continue
            while job.taken < len(job.texts) and (not batch or job.tokens[job.taken] <= left):
                batch.append((job, job.taken))
                left -= job.tokens[job.taken]
                job.taken += 1
            if job.taken < len(job.texts):
                self._jobs.append(job)
                break
        return batch

    def _give_up(self, job: _Job[M, A]) -> None:
        seconds = self._options.request_timeout
        self._fail(job, ServiceError(503, "timeout", f"no answer within {seconds:g} s; send fewer texts at a time"))

    def _fail(self, job: _Job[M, A], error: Exception) -> None:
        self.waiting -= len(job.texts) - job.taken
        job.taken = len(job.texts)
        if job in self._jobs:
            self._jobs.remove(job)
        if not job.answered.done():
            job.answered.set_exception(error)


__all__: list[Any] = ["BatchQueue", "Scored"]
