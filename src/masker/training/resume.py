"""What a resumed run needs besides the weights: optimizer, schedule and random generators, without pickle.

Tensors go to safetensors, the rest to JSON.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from masker.modeling.tensors import write_tensors

OPTIMIZER_FILE = "optimizer.safetensors"
SCHEDULE_FILE = "schedule.json"


def save_optimizer(folder: Path, optimizer: Any, scheduler: Any) -> None:
    """Write optimizer and learning-rate schedule."""
    state = optimizer.state_dict()
    tensors = {
        f"{parameter}.{name}": value.detach().cpu()
        for parameter, values in state["state"].items()
        for name, value in values.items()
        if isinstance(value, torch.Tensor)
    }
    write_tensors(tensors, folder / OPTIMIZER_FILE, {"param_groups": json.dumps(state["param_groups"])})
    (folder / SCHEDULE_FILE).write_text(json.dumps(scheduler.state_dict()), encoding="utf-8")


def load_optimizer(folder: Path, optimizer: Any, scheduler: Any) -> None:
    """Read what :func:`save_optimizer` wrote."""
    from safetensors import safe_open

    states: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in load_file(folder / OPTIMIZER_FILE).items():
        parameter, _, name = key.partition(".")
        states.setdefault(int(parameter), {})[name] = value
    with safe_open(folder / OPTIMIZER_FILE, framework="pt") as file:
        groups = json.loads(file.metadata()["param_groups"])
    optimizer.load_state_dict({"state": states, "param_groups": groups})
    scheduler.load_state_dict(json.loads((folder / SCHEDULE_FILE).read_text(encoding="utf-8")))


def _random_file(folder: Path, process: int) -> Path:
    return folder / f"random_{process}.json"


def save_random_state(folder: Path, process: int) -> None:
    """Write the state of the generators of Python, NumPy and torch."""
    folder.mkdir(parents=True, exist_ok=True)
    kind, keys, position, has_gauss, cached = np.random.get_state(legacy=True)
    state = {
        "python": random.getstate(),
        "numpy": [kind, np.asarray(keys).tolist(), position, has_gauss, cached],
        "torch": torch.get_rng_state().tolist(),
        "cuda": [state.tolist() for state in torch.cuda.get_rng_state_all()] if torch.cuda.is_available() else [],
    }
    _random_file(folder, process).write_text(json.dumps(state), encoding="utf-8")


def load_random_state(folder: Path, process: int) -> None:
    """Read what :func:`save_random_state` wrote; does nothing if this process wrote none."""
    path = _random_file(folder, process)
    if not path.is_file():
        return
    state = json.loads(path.read_text(encoding="utf-8"))
    version, internal, gauss = state["python"]
    random.setstate((version, tuple(internal), gauss))
    np.random.set_state(tuple(state["numpy"]))
    torch.set_rng_state(torch.tensor(state["torch"], dtype=torch.uint8))
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([torch.tensor(values, dtype=torch.uint8) for values in state["cuda"]])


def checkpoint_step(checkpoint: Path) -> int:
    """The step after which a checkpoint was written."""
    return int(checkpoint.name.rpartition("-")[2])


def last_complete_checkpoint(folder: Path) -> Path | None:
    """The newest complete checkpoint.

    The Trainer writes ``trainer_state.json`` last: without a readable one, the save was interrupted.
    """
    for checkpoint in sorted(folder.glob("checkpoint-[0-9]*"), key=checkpoint_step, reverse=True):
        try:
            json.loads((checkpoint / "trainer_state.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        return checkpoint
    return None
