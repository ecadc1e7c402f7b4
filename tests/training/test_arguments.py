"""Settings as the Trainer gets them, and the device it trains on."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
import torch
from accelerate.state import AcceleratorState

from masker.config import build_settings
from masker.errors import ConfigError
from masker.training import arguments as module
from masker.training.arguments import CHECKPOINT_STEPS, training_arguments
from masker.training.schedule import Schedule
from masker.training.training_stage import TrainingStage

CPU, GPU = torch.device("cpu"), torch.device("cuda", 1)
EPOCHS = Schedule(epochs=3)


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    for name in ("ACCELERATE_TORCH_DEVICE", "WORLD_SIZE", "LOCAL_RANK", "RANK"):
        monkeypatch.setenv(name, "of another test")
        monkeypatch.delenv(name)
    yield
    AcceleratorState._reset_state(reset_partial_state=True)


@pytest.fixture
def recorded(monkeypatch):
    """What TrainingArguments would be given, on a machine with four GPUs."""
    monkeypatch.setattr(module, "TrainingArguments", lambda **given: SimpleNamespace(n_gpu=4, **given))
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)

    def build(device=CPU, averaged_share=0.0, schedule=EPOCHS, **training):
        settings = build_settings({"training": {"precision": "fp32", **training}})
        stage = TrainingStage("masker", schedule, averaged_share=averaged_share)
        return training_arguments(settings, stage, "folder", device)

    return build


def distributed_run(monkeypatch, processes=2):
    for name, value in {"WORLD_SIZE": str(processes), "LOCAL_RANK": "1", "RANK": "1"}.items():
        monkeypatch.setenv(name, value)


def test_a_stage_becomes_arguments(recorded):
    found = recorded(batch_size=24, gradient_accumulation=2, learning_rate=3e-4, seed=5, weight_decay=0.1)
    assert (found.num_train_epochs, found.per_device_train_batch_size, found.gradient_accumulation_steps) == (3, 24, 2)
    assert (found.learning_rate, found.weight_decay, found.seed) == (3e-4, 0.1, 5)
    assert found.report_to == "none"
    assert (found.eval_strategy, found.save_strategy) == ("epoch", "epoch")


def test_steps_choose_among_four_checkpoints(recorded):
    found = recorded(schedule=Schedule(steps=100))
    assert (found.max_steps, found.eval_steps, found.save_steps) == (100, 25, 25) and found.load_best_model_at_end
    assert recorded(schedule=Schedule(steps=3)).eval_steps == 1


def test_averaged_steps_are_not_evaluated_on_the_way(recorded):
    """Documents dealt into folds have no validation part; checkpoints are there to resume from."""
    found = recorded(schedule=Schedule(steps=100), averaged_share=0.5)
    assert (found.max_steps, found.eval_strategy, found.save_steps) == (100, "no", CHECKPOINT_STEPS)


def test_averaged_weights_keep_their_rate_and_no_checkpoint_is_chosen(recorded):
    plain, averaged = recorded(), recorded(averaged_share=0.5)
    assert (plain.lr_scheduler_type, plain.load_best_model_at_end) == ("linear", True)
    assert (averaged.lr_scheduler_type, averaged.load_best_model_at_end) == ("constant_with_warmup", False)


@pytest.mark.parametrize(("batch_size", "processes", "each"), [(16, 2, 8), (16, 3, 6), (1, 4, 1)])
def test_a_batch_is_shared_by_all_processes(recorded, monkeypatch, batch_size, processes, each):
    distributed_run(monkeypatch, processes)
    assert recorded(batch_size=batch_size).per_device_train_batch_size == each


def test_warm_up_over_all_steps_is_a_share_and_not_one_step(recorded):
    """The Trainer reads 1 as one step, and less as a share."""
    assert recorded(warmup_fraction=0.1).warmup_steps == 0.1
    assert 0.99 < recorded(warmup_fraction=1.0).warmup_steps < 1


def test_an_integration_that_is_not_installed_is_refused(recorded):
    with pytest.raises(ConfigError, match=r"training.report_to: 'no-such-board' is not installed; available: "):
        recorded(report_to=["no-such-board"])


# --- devices ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("major", "precision", "bf16", "fp16"),
    [(9, "auto", True, False), (7, "auto", False, True), (7, "fp32", False, False), (7, "bf16", True, False)],
)
def test_the_format_is_asked_of_the_device_that_trains(recorded, monkeypatch, major, precision, bf16, fp16):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (major, 0))
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: not bf16)
    found = recorded(GPU, precision=precision)
    assert (found.use_cpu, found.bf16, found.fp16) == (False, bf16, fp16)


def test_the_cpu_is_taken_and_asked_although_there_is_a_gpu(recorded, monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    found = recorded(CPU, precision="auto")
    assert (found.use_cpu, found.bf16, found.fp16) == (True, False, False)


def test_one_process_drives_one_gpu(recorded):
    assert recorded(GPU)._n_gpu == 1


def test_accelerate_is_told_the_device_of_a_single_process(recorded, monkeypatch):
    recorded(GPU)
    assert os.environ["ACCELERATE_TORCH_DEVICE"] == "cuda:1"
    recorded(torch.device("mps"))
    assert os.environ["ACCELERATE_TORCH_DEVICE"] == "mps"
    recorded(CPU)
    assert "ACCELERATE_TORCH_DEVICE" not in os.environ, "what an earlier run asked for is forgotten"
    recorded(GPU)
    distributed_run(monkeypatch)
    recorded(GPU)
    assert "ACCELERATE_TORCH_DEVICE" not in os.environ, "each process takes the device of its local rank"


@pytest.mark.parametrize(("device", "taken"), [(CPU, "cpu"), (torch.device("meta"), "meta")])
def test_the_trainer_takes_the_device(tmp_path, device, taken):
    """The real arguments; ``meta`` is the one accelerator that every machine has."""
    settings = build_settings({"training": {"precision": "fp32"}})
    found = training_arguments(settings, TrainingStage("masker", Schedule(epochs=1)), tmp_path, device)
    assert found.device == torch.device(taken) and found.n_gpu == 0


def test_the_trainer_takes_the_second_gpu_when_asked(tmp_path, monkeypatch):
    """transformers takes cuda:0 in a single process, whatever accelerate is told."""
    current = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    settings = build_settings({"training": {"precision": "fp32"}})
    found = training_arguments(settings, TrainingStage("masker", Schedule(epochs=1)), tmp_path, GPU)
    assert (found.device, found.n_gpu) == (GPU, 1)
    assert current[-1] == GPU
    found = training_arguments(settings, TrainingStage("masker", Schedule(epochs=1)), tmp_path, torch.device("cuda", 0))
    assert found.device == torch.device("cuda", 0)


@pytest.mark.parametrize(
    ("schedule", "share", "kind"),
    [
        ("auto", 0.5, "constant_with_warmup"),
        ("auto", 0.0, "linear"),
        ("constant", 0.0, "constant_with_warmup"),
        ("linear", 0.5, "linear"),
    ],
)
def test_the_rate_falls_or_stays(recorded, schedule, share, kind):
    assert recorded(averaged_share=share, lr_schedule=schedule).lr_scheduler_type == kind


def test_the_paper_s_optimization(monkeypatch):
    monkeypatch.setattr(module, "TrainingArguments", lambda **given: SimpleNamespace(n_gpu=0, **given))
    settings = build_settings({"training": {"precision": "fp32"}}, preset="ood")
    found = training_arguments(settings, TrainingStage("masker", EPOCHS), "folder", CPU)
    assert (found.lr_scheduler_type, found.warmup_steps) == ("constant_with_warmup", 0.0)
    assert (found.weight_decay, found.max_grad_norm) == (0.0, 0.0)
    assert not found.load_best_model_at_end, "nothing is held out to choose one"
    assert (found.eval_strategy, found.save_strategy) == ("no", "epoch")


def test_without_held_out_documents_steps_are_not_chosen_among(monkeypatch):
    monkeypatch.setattr(module, "TrainingArguments", lambda **given: SimpleNamespace(n_gpu=0, **given))
    settings = build_settings({"data": {"validation_fraction": 0.0}, "training": {"precision": "fp32"}})
    found = training_arguments(settings, TrainingStage("masker", Schedule(steps=400)), "folder", CPU)
    assert (found.eval_strategy, found.save_steps, found.load_best_model_at_end) == ("no", CHECKPOINT_STEPS, False)
