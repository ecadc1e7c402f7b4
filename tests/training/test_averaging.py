"""The mean of weights, by hand."""

from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from masker.training.averaging import AVERAGE_FILE, WeightAverage


def follow(average: WeightAverage, network: nn.Module, steps: range, total: int = 4) -> None:
    """After step t the weights are t and 10 t."""
    for step in steps:
        with torch.no_grad():
            network.weight.copy_(torch.tensor([[step, 10.0 * step]]))
        average.on_step_end(None, SimpleNamespace(global_step=step, max_steps=total), None)


@pytest.mark.parametrize(
    ("share", "mean"),
    [
        (0.5, [3.5, 35.0]),  # steps 3 and 4
        (1.0, [2.5, 25.0]),
        (0.25, [4.0, 40.0]),
        (0.01, [4.0, 40.0]),  # never less than the last step
        (0.6, [3.0, 30.0]),  # of 2.4 steps the begun one counts
    ],
)
def test_the_mean_over_the_last_share_of_the_steps(share, mean):
    network = nn.Linear(2, 1, bias=False)
    average = WeightAverage(network, share)
    follow(average, network, range(1, 5))
    assert network.weight.tolist() == [[4.0, 40.0]]
    average.on_train_end(None, None, None)
    assert network.weight.tolist() == [mean]


@pytest.mark.parametrize("stop", [1, 2, 3])
def test_it_goes_on_where_it_was_saved(tmp_path, stop):
    network = nn.Linear(2, 1, bias=False)
    first = WeightAverage(network, 0.75)
    follow(first, network, range(1, stop + 1))
    first.save(tmp_path)
    second = WeightAverage(network, 0.75)
    second.load(tmp_path)
    follow(second, network, range(stop + 1, 5))
    second.on_train_end(None, None, None)
    assert network.weight.tolist() == [[3.0, 30.0]]


def test_frozen_weights_are_neither_kept_nor_changed(tmp_path):
    network = nn.Linear(2, 1)
    network.bias.requires_grad = False
    average = WeightAverage(network, 1.0)
    follow(average, network, range(1, 5))
    average.save(tmp_path)
    assert set(load_file(tmp_path / AVERAGE_FILE)) == {"weight", "averaged_steps"}
    bias = network.bias.clone()
    average.on_train_end(None, None, None)
    assert torch.equal(network.bias, bias) and network.weight.tolist() == [[2.5, 25.0]]


def test_each_mean_comes_back_to_its_own_weight(tmp_path):
    """A file sorts names: "a" before "z", though the network has them the other way round, and in other shapes."""
    network = nn.ParameterDict({"z": nn.Parameter(torch.ones(2)), "a": nn.Parameter(torch.ones(2, 3))})
    state = SimpleNamespace(global_step=1, max_steps=2)
    first, second = WeightAverage(network, 1.0), WeightAverage(network, 1.0)
    first.on_step_end(None, state, None)
    first.save(tmp_path)
    second.load(tmp_path)
    second.on_step_end(None, SimpleNamespace(global_step=2, max_steps=2), None)
    second.on_train_end(None, None, None)
    assert network["z"].tolist() == [1.0, 1.0] and network["a"].shape == (2, 3)
