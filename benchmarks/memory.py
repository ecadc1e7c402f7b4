"""Memory that a training step frees, kept or given back to the system."""

from __future__ import annotations

from contextlib import nullcontext

from benchmarks.measure import Row, alternate, compare
from benchmarks.setting import Setting
from benchmarks.tricks import WORTH, vanilla_steps
from masker.training.fast_dropout import fast_dropout_in
from masker.training.kept_memory import kept_memory


def run(setting: Setting, rounds: int) -> list[Row]:
    stepper, steps = vanilla_steps(setting)
    with fast_dropout_in(stepper.trainer.model.classifier):  # as in every training
        cases = {"kept": lambda: steps(kept_memory()), "returned": lambda: steps(nullcontext())}
        times = alternate(cases, 2 * rounds)
    return [compare("vanilla step, freed memory kept", "without", times["returned"], times["kept"], at_least=WORTH)]
