"""Batches across requests: by token budget, in turns, bounded, and nothing that was accepted is lost."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from masker.service.batch_queue import BYTES_PER_TOKEN, BatchQueue
from masker.service.failures import ServiceError
from masker.service.service_options import ServiceOptions


class Echo:
    """Answers a text with itself in capitals, and remembers the batches."""

    def __init__(self, seconds: float = 0.0):
        self.batches, self.seconds, self.gate = [], seconds, threading.Event()
        self.gate.set()

    def __call__(self, model, texts):
        self.batches.append((model, list(texts)))
        self.gate.wait(10)
        time.sleep(self.seconds)
        if "bad" in texts:
            raise ValueError("a bad text")
        return [f"{model}:{text}".upper() for text in texts]


def text_of(tokens: int, letter: str = "x") -> str:
    """A text that is estimated to have so many tokens: two of them are special."""
    return letter * (BYTES_PER_TOKEN * (tokens - 2))


def run(scenario, score=None, **options):
    """Run a scenario with a started queue, which is stopped at the end."""
    score = score or Echo()

    async def inside():
        queue = BatchQueue(score, ServiceOptions(batch_wait_ms=5, **options))
        await queue.start()
        try:
            return await scenario(queue)
        finally:
            score.gate.set()
            await queue.stop()

    return asyncio.run(inside()), score.batches


def test_requests_that_wait_are_scored_together():
    async def scenario(queue):
        return await asyncio.gather(*(queue.submit("m", [f"a{n}", f"b{n}"]) for n in range(5)))

    answers, batches = run(scenario)
    assert answers == [[f"M:A{n}", f"M:B{n}"] for n in range(5)]
    assert len(batches) == 1 and len(batches[0][1]) == 10


def test_a_batch_keeps_to_its_tokens_but_has_at_least_one_text():
    """Texts of 10 tokens with a budget of 25: two at a time; one of 100 tokens goes alone."""

    async def scenario(queue):
        await queue.submit("m", [text_of(10)] * 5 + [text_of(100, "y")] + [text_of(10)])

    _, batches = run(scenario, max_batch_tokens=25)
    assert [len(texts) for _, texts in batches] == [2, 2, 1, 1, 1]


def test_tokens_that_the_model_does_not_read_do_not_count():
    async def scenario(queue):
        await queue.submit("m", [text_of(100)] * 4, longest=10)

    _, batches = run(scenario, max_batch_tokens=40)
    assert [len(texts) for _, texts in batches] == [4]


def test_a_large_request_holds_nobody_up():
    async def scenario(queue):
        large = asyncio.ensure_future(queue.submit("m", [text_of(10, "l")] * 20))
        await asyncio.sleep(0)
        await queue.submit("m", ["small"])
        assert not large.done()
        assert len(await large) == 20

    _, batches = run(scenario, Echo(0.01), max_batch_tokens=20)
    assert "small" in batches[1][1]


def test_requests_that_fit_into_a_batch_are_answered_in_the_order_they_came():
    """Three requests of 3 texts with room for 4 in a batch: the second one is finished before the third one begins."""

    async def scenario(queue):
        await asyncio.gather(*(queue.submit("m", [text_of(10, letter)] * 3) for letter in "abc"))

    _, batches = run(scenario, max_batch_tokens=40)
    assert ["".join(text[0] for text in texts) for _, texts in batches] == ["aaab", "bbcc", "c"]


def test_texts_of_different_models_are_never_mixed():
    async def scenario(queue):
        return await asyncio.gather(queue.submit("old", ["a"]), queue.submit("new", ["b"]), queue.submit("new", ["c"]))

    answers, batches = run(scenario)
    assert answers == [["OLD:A"], ["NEW:B"], ["NEW:C"]]
    assert batches == [("old", ["a"]), ("new", ["b", "c"])]


def test_a_full_queue_refuses_and_says_when_to_come_back():
    score = Echo()

    async def scenario(queue):
        score.gate.clear()
        first = asyncio.ensure_future(queue.submit("m", ["first"]))
        while not score.batches:
            await asyncio.sleep(0.01)
        waiting = [asyncio.ensure_future(queue.submit("m", ["a", "b"])) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(ServiceError, match=r"^4 texts are waiting already; try again later$") as refused:
            await queue.submit("m", ["c"])
        assert refused.value.status == 429 and int(refused.value.headers["Retry-After"]) >= 1
        score.gate.set()
        await asyncio.gather(first, *waiting)
        assert queue.waiting == 0
        assert await queue.submit("m", ["c"]) == ["M:C"]

    run(scenario, score, max_queue=4)


def test_a_queue_that_would_take_too_long_refuses():
    """20 tokens a second, 40 wait, a request may take 1 s: two seconds of waiting are too many."""

    async def scenario(queue):
        queue.speed = 20.0
        waiting = asyncio.ensure_future(queue.submit("m", [text_of(40)]))
        await asyncio.sleep(0)
        with pytest.raises(ServiceError) as refused:
            await queue.submit("m", ["c"])
        assert refused.value.status == 429 and refused.value.headers["Retry-After"] == "2"
        await waiting

    run(scenario, request_timeout=1)


def test_a_request_that_waits_too_long_is_given_up_even_if_scoring_hangs():
    score = Echo()

    async def scenario(queue):
        score.gate.clear()
        with pytest.raises(ServiceError, match=r"no answer within 0\.1 s") as given_up:
            await queue.submit("m", ["a"])
        assert given_up.value.status == 503 and given_up.value.error_type == "timeout"
        score.gate.set()
        assert await queue.submit("m", ["b"]) == ["M:B"]

    run(scenario, score, request_timeout=0.1)


def test_only_the_request_at_fault_fails():
    async def scenario(queue):
        return await asyncio.gather(
            queue.submit("m", ["a"]), queue.submit("m", ["bad"]), queue.submit("m", ["c"]), return_exceptions=True
        )

    answers, _ = run(scenario)
    assert answers[0] == ["M:A"] and answers[2] == ["M:C"]
    assert isinstance(answers[1], ValueError)


def test_texts_of_a_caller_who_is_gone_are_not_scored():
    score = Echo()

    async def scenario(queue):
        score.gate.clear()
        first = asyncio.ensure_future(queue.submit("m", ["first"]))
        while not score.batches:
            await asyncio.sleep(0.01)
        gone = asyncio.ensure_future(queue.submit("m", ["gone"]))
        await asyncio.sleep(0)
        gone.cancel()
        score.gate.set()
        await first
        await queue.submit("m", ["last"])
        assert queue.waiting == 0

    _, batches = run(scenario, score)
    assert [texts for _, texts in batches] == [["first"], ["last"]]


def test_stopping_finishes_what_was_accepted_and_accepts_no_more():
    async def scenario():
        queue = BatchQueue(Echo(0.05), ServiceOptions(max_batch_tokens=10))
        with pytest.raises(ServiceError, match="starting or stopping"):
            await queue.submit("m", ["early"])
        await queue.start()
        accepted = [asyncio.ensure_future(queue.submit("m", [f"text {n}"])) for n in range(6)]
        await asyncio.sleep(0)
        stopping = asyncio.ensure_future(queue.stop())
        await asyncio.sleep(0)
        with pytest.raises(ServiceError, match="starting or stopping"):
            await queue.submit("m", ["late"])
        await stopping
        return await asyncio.gather(*accepted)

    assert asyncio.run(scenario()) == [[f"M:TEXT {n}"] for n in range(6)]


def test_no_texts_need_no_scoring():
    async def scenario(queue):
        return await queue.submit("m", [])

    assert run(scenario) == ([], [])
