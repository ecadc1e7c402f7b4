"""Steps that would spoil the weights are left out; a training that diverges ends with advice."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import safetensors.torch
import torch
from torch import nn

from masker import Documents, MaskerError, Model
from masker.training.finite_steps import MOST_IN_A_ROW, FiniteSteps
from masker.training.trainer import MaskerTrainer
from tests.conftest import make_corpus

STATE = SimpleNamespace(global_step=7)


def step(callback, network, optimizer, gradient):
    for weight in network.parameters():
        weight.grad = torch.full_like(weight, gradient)
    callback.on_pre_optimizer_step(None, STATE, None)
    optimizer.step()
    optimizer.zero_grad()


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), 1e38])
def test_a_step_is_left_out_with_its_moments(broken):
    """1e38 is finite, but the norm of four of them squared is not a float32. A run without the step ends alike."""
    ends = []
    for gradients in ([1.0, broken, 2.0], [1.0, 2.0]):
        torch.manual_seed(0)
        network = nn.Linear(2, 2)
        callback, optimizer = FiniteSteps(network), torch.optim.AdamW(network.parameters(), lr=0.1)
        for gradient in gradients:
            step(callback, network, optimizer, gradient)
        ends.append(network.weight.detach().clone())
        assert callback.left_out == len(gradients) - 2
    assert torch.equal(*ends)


def test_the_scaler_of_float16_looks_itself():
    network = nn.Linear(2, 2)
    callback = FiniteSteps(network, scaled=True)
    step(callback, network, torch.optim.SGD(network.parameters(), lr=0.0), float("inf"))
    assert callback.left_out == 0


def fit(tiny_settings, work, method="vanilla"):
    texts, labels = make_corpus(30)
    settings = tiny_settings(training={"method": method, "epochs": 3}, detection={"score": "max-prob"})
    return Model.fit(Documents(texts, None, labels, "made up"), settings, work, device="cpu")


def broken_loss(monkeypatch, is_broken):
    compute, calls = MaskerTrainer.compute_loss, []

    def broken(trainer, model, *arguments, **options):
        loss = compute(trainer, model, *arguments, **options)
        if not model.training:
            return loss
        calls.append(None)
        return loss * float("nan") if is_broken(len(calls)) else loss

    monkeypatch.setattr(MaskerTrainer, "compute_loss", broken)


def test_training_goes_on_and_says_so(tiny_settings, tmp_path, monkeypatch, caplog):
    broken_loss(monkeypatch, lambda call: call == 2)
    model = fit(tiny_settings, tmp_path / "work")
    assert all(weight.isfinite().all() for weight in model.backend.classifier.parameters())
    assert "1 of 9 steps were left out, as their gradients were not finite" in caplog.text


def test_a_training_that_diverges_ends_with_advice(tiny_settings, tmp_path, monkeypatch):
    broken_loss(monkeypatch, lambda call: call > 2)
    with pytest.raises(
        MaskerError, match=f"of {MOST_IN_A_ROW + 1} steps in a row are not finite; train again with a lower"
    ):
        fit(tiny_settings, tmp_path / "work")


def test_no_checkpoint_ever_holds_what_is_no_number(tiny_settings, tmp_path, monkeypatch):
    """Weights, moments, average and result, as they are written, of a training with broken steps among the others."""
    broken_loss(monkeypatch, lambda call: call % 3 == 0)
    written: list[str] = []
    write = safetensors.torch.save_file

    def checked(content, path, metadata=None):
        assert all(tensor.isfinite().all() for tensor in content.values()), path
        written.append(path.name)
        write(content, path, metadata=metadata)

    monkeypatch.setattr(safetensors.torch, "save_file", checked)
    fit(tiny_settings, tmp_path / "work", "masker")
    for name in ("model", "optimizer", "average", "result"):
        assert any(f".{name}.safetensors" in file for file in written), name
