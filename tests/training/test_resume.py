"""What a resumed run needs, bit for bit and without pickle."""

import json
import random

import numpy as np
import pytest
import torch
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from masker.training.resume import (
    last_complete_checkpoint,
    load_optimizer,
    load_random_state,
    save_optimizer,
    save_random_state,
)


def run(seed=0):
    """A small network, an optimizer with two groups and a schedule."""
    torch.manual_seed(seed)
    network = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 2))
    groups = [
        {"params": network[0].parameters(), "lr": 0.1, "weight_decay": 0.0},
        {"params": network[1].parameters(), "lr": 0.05, "weight_decay": 0.01},
    ]
    optimizer = AdamW(groups)
    return network, optimizer, LambdaLR(optimizer, lambda step: 1 / (1 + step / 3))


def step(network, optimizer, scheduler, times):
    generator = torch.Generator().manual_seed(times)
    for _ in range(times):
        network(torch.randn(5, 4, generator=generator)).square().sum().backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()


@pytest.fixture
def interrupted(tmp_path):
    parts = run()
    step(*parts, 3)
    save_optimizer(tmp_path, *parts[1:])
    return parts


def test_optimizer_round_trip_is_exact(interrupted, tmp_path):
    _, optimizer, scheduler = interrupted
    _, fresh, fresh_scheduler = run()
    load_optimizer(tmp_path, fresh, fresh_scheduler)
    before, after = optimizer.state_dict(), fresh.state_dict()
    assert before["state"].keys() == after["state"].keys()
    for parameter, values in before["state"].items():
        assert values.keys() == after["state"][parameter].keys() == {"step", "exp_avg", "exp_avg_sq"}
        for name, value in values.items():
            torch.testing.assert_close(after["state"][parameter][name], value, rtol=0, atol=0)
            assert after["state"][parameter][name].dtype == value.dtype
    assert json.dumps(before["param_groups"]) == json.dumps(after["param_groups"])
    assert json.dumps(scheduler.state_dict()) == json.dumps(fresh_scheduler.state_dict())


def test_resumed_run_goes_on_bit_for_bit(interrupted, tmp_path):
    network, *_ = interrupted
    resumed, optimizer, scheduler = run(seed=1)
    resumed.load_state_dict(network.state_dict())
    load_optimizer(tmp_path, optimizer, scheduler)
    step(*interrupted, 4)
    step(resumed, optimizer, scheduler, 4)
    for mine, other in zip(network.parameters(), resumed.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=0, atol=0)
    assert scheduler.get_last_lr() == interrupted[2].get_last_lr()


def test_optimizer_before_its_first_step(tmp_path):
    _, optimizer, scheduler = run()
    save_optimizer(tmp_path, optimizer, scheduler)
    _, fresh, fresh_scheduler = run()
    load_optimizer(tmp_path, fresh, fresh_scheduler)
    assert fresh.state_dict()["state"] == {}


def test_only_safetensors_and_json_are_written(interrupted, tmp_path):
    save_random_state(tmp_path, 0)
    files = sorted(file.name for file in tmp_path.iterdir())
    assert files == ["optimizer.safetensors", "random_0.json", "schedule.json"]
    for file in tmp_path.glob("*.json"):
        json.loads(file.read_text())
    assert not any(file.read_bytes()[:1] == b"\x80" for file in tmp_path.glob("*.json"))


def draw():
    return random.random(), random.gauss(0, 1), np.random.random(3).tolist(), np.random.normal(), torch.rand(3).tolist()


@pytest.fixture
def _restored():
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    yield
    random.setstate(states[0])
    np.random.set_state(states[1])
    torch.set_rng_state(states[2])


@pytest.mark.usefixtures("_restored")
def test_random_state_round_trip_is_exact(tmp_path):
    """A Gaussian draw before saving leaves half a pair behind in Python's and NumPy's generators: it is kept too."""
    random.seed(1)
    np.random.seed(2)
    torch.manual_seed(3)
    draw()
    save_random_state(tmp_path / "new" / "folder", 0)
    wanted = [draw() for _ in range(3)]
    random.seed(9)
    np.random.seed(9)
    torch.manual_seed(9)
    assert draw() != wanted[0]
    load_random_state(tmp_path / "new" / "folder", 0)
    assert [draw() for _ in range(3)] == wanted


@pytest.mark.usefixtures("_restored")
def test_each_process_has_a_state_of_its_own(tmp_path):
    torch.manual_seed(1)
    save_random_state(tmp_path, 0)
    first = torch.rand(2).tolist()
    save_random_state(tmp_path, 1)
    second = torch.rand(2).tolist()
    load_random_state(tmp_path, 0)
    assert torch.rand(2).tolist() == first
    load_random_state(tmp_path, 1)
    assert torch.rand(2).tolist() == second


@pytest.mark.usefixtures("_restored")
def test_process_that_wrote_nothing_keeps_its_state(tmp_path):
    before = torch.get_rng_state()
    load_random_state(tmp_path, 5)
    torch.testing.assert_close(torch.get_rng_state(), before)


def checkpoint(folder, number, state='{"global_step": 1}'):
    path = folder / f"checkpoint-{number}"
    path.mkdir()
    if state is not None:
        (path / "trainer_state.json").write_text(state)
    return path


def test_newest_checkpoint_by_number_not_by_name(tmp_path):
    checkpoint(tmp_path, 9)
    newest = checkpoint(tmp_path, 100)
    checkpoint(tmp_path, 20)
    assert last_complete_checkpoint(tmp_path) == newest


@pytest.mark.parametrize("torn", [None, "", '{"global_step": 1', "\x00\x00"])
def test_torn_checkpoint_is_passed_over(torn, tmp_path):
    whole = checkpoint(tmp_path, 10)
    checkpoint(tmp_path, 20, torn)
    checkpoint(tmp_path, 30, torn)
    assert last_complete_checkpoint(tmp_path) == whole


def test_no_complete_checkpoint(tmp_path):
    assert last_complete_checkpoint(tmp_path) is None
    assert last_complete_checkpoint(tmp_path / "none") is None
    checkpoint(tmp_path, 10, None)
    assert last_complete_checkpoint(tmp_path) is None
