"""How much slower training and scoring are beside a process that keeps one core busy.

Training is measured in processes of its own: how threads wait is decided when torch is loaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from benchmarks.measure import Row, compare
from benchmarks.setting import Setting

STEPS = 3
LIMIT = 1.6
#: Another runtime's variable: masker takes it for the user's choice, and the runtime of torch's wheels ignores it.
LIBRARY_DEFAULT = {"KMP_BLOCKTIME": "200"}


@contextmanager
def busy_core() -> Iterator[None]:
    """Inside the context another process never rests."""
    neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.5)
        yield
    finally:
        neighbour.kill()
        neighbour.wait()


class TrainingProcess:
    """A process that takes training steps on request and says how long they took."""

    def __init__(self, **environment: str) -> None:
        inherited = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.busy"],
            env={**inherited, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.seconds()  # wait until it has started

    def seconds(self) -> float:
        """Seconds of one step."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("step\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def step_on_request() -> None:
    """The other side: vanilla steps of 16 documents of 64 tokens with the embedded backbone."""
    import torch

    from masker.config import build_settings
    from masker.modeling.backbone import load_backbone
    from masker.modeling.devices import reads_bf16
    from masker.training.fast_dropout import fast_dropout_in

    classifier = load_backbone(build_settings({}).model, ["a", "b", "c"]).classifier.train()
    optimizer = torch.optim.AdamW(classifier.parameters(), lr=1e-5)
    ids, labels = torch.randint(1000, 5000, (16, 64)), torch.randint(0, 3, (16,))
    bf16 = reads_bf16("auto", torch.device("cpu"))

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            logits = classifier(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        torch.nn.functional.cross_entropy(logits.float(), labels).backward()
        optimizer.step()
        optimizer.zero_grad()

    with fast_dropout_in(classifier):
        step()
        for _ in sys.stdin:
            start = time.perf_counter()
            for _ in range(STEPS):
                step()
            print((time.perf_counter() - start) / STEPS, flush=True)


def quiet_and_busy(cases: dict[str, Callable[[], float]], rounds: int) -> dict[str, tuple[list[float], list[float]]]:
    """Seconds of each case with both cores free and beside a busy process, in turns."""
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in cases}
    for case in cases.values():
        case()
    for _ in range(rounds):
        for name, case in cases.items():
            times[name][0].append(case())
        with busy_core():
            for name, case in cases.items():
                times[name][1].append(case())
    return times


def training_rows(rounds: int) -> list[Row]:
    with ExitStack() as stack:
        ours, plain = TrainingProcess(), TrainingProcess(**LIBRARY_DEFAULT)
        stack.callback(ours.close)
        stack.callback(plain.close)
        times = quiet_and_busy({"ours": ours.seconds, "plain": plain.seconds}, 2 * rounds)
    name = "training step beside one busy core"
    return [
        compare(name, "all cores free", times["ours"][1], times["ours"][0], at_most=LIMIT),
        compare(f"{name}, the OpenMP library's own waiting", "all cores free", times["plain"][1], times["plain"][0]),
        compare(
            "training step, all cores free", "the OpenMP library's own waiting", times["ours"][0], times["plain"][0],
            at_most=1.05,
        ),
    ]  # fmt: skip


def scoring_rows(setting: Setting, rounds: int) -> list[Row]:
    from benchmarks.scoring import exported_models

    _, models = exported_models(setting)
    texts = setting.documents.texts[:96]

    def case(model: Any) -> Callable[[], float]:
        def seconds() -> float:
            start = time.perf_counter()
            model.predict(texts)
            return (time.perf_counter() - start) / len(texts)

        return seconds

    times = quiet_and_busy({name: case(model) for name, model in models.items()}, rounds)
    return [
        compare(f"scoring in bulk beside one busy core, {name}", "all cores free", busy, quiet, at_most=LIMIT)
        for name, (quiet, busy) in times.items()
    ]


def run(setting: Setting, rounds: int) -> list[Row]:
    return [*training_rows(rounds), *scoring_rows(setting, rounds)]


if __name__ == "__main__":
    step_on_request()
