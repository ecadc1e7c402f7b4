"""Where a network runs and in which format; accelerators are mocked, since tests run without one."""

import pytest
import torch

from masker.errors import ConfigError
from masker.modeling import devices
from masker.modeling.devices import has_fast_bf16, inference_tokens, reads_bf16, resolve_device, training_precision

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)


def accelerator(monkeypatch, kind, count=1):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: kind is not None)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: kind and torch.device(kind))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count if kind == "cuda" else 0)


def capability(monkeypatch, major):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (major, 0))


@pytest.mark.parametrize(("kind", "expected"), [(None, "cpu"), ("cuda", "cuda"), ("mps", "mps")])
def test_auto_is_the_best_there_is(monkeypatch, kind, expected):
    accelerator(monkeypatch, kind)
    assert resolve_device("auto").type == expected
    assert resolve_device("cpu") == CPU


def test_processes_of_one_machine_take_a_device_each(monkeypatch):
    accelerator(monkeypatch, "cuda", 2)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert resolve_device("auto") == torch.device("cuda", 1)


def test_names(monkeypatch):
    accelerator(monkeypatch, "cuda", 2)
    assert resolve_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(ConfigError, match=r"^device 'cuda:2' is not on this machine, which has 2 CUDA devices"):
        resolve_device("cuda:2")
    for name in ("gpu", "cuda:", "CPU", "xpu"):
        with pytest.raises(ConfigError, match=r"^device must be auto, cpu, cuda, cuda:N or mps; got"):
            resolve_device(name)


def test_without_an_accelerator_its_names_are_refused(monkeypatch):
    accelerator(monkeypatch, None)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    for name in ("cuda", "cuda:0", "mps"):
        with pytest.raises(ConfigError, match="not on this machine"):
            resolve_device(name)


@pytest.mark.parametrize(
    ("avx512", "amx", "fast"), [(True, False, True), (False, True, True), (True, True, True), (False, False, False)]
)
def test_the_cpu_is_asked_even_where_there_is_a_gpu(avx512, amx, fast, monkeypatch):
    accelerator(monkeypatch, "cuda")
    capability(monkeypatch, 9)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    assert has_fast_bf16(CPU) is False, "torch was told to leave AVX-512 out"
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    assert has_fast_bf16(CPU) is fast
    assert training_precision("auto", CPU) == ("bf16" if fast else "fp32")
    assert reads_bf16("auto", CPU) is fast


@pytest.mark.parametrize(("major", "precision"), [(9, "bf16"), (8, "bf16"), (7, "fp16")])
def test_older_gpus_train_in_fp16(major, precision, monkeypatch):
    capability(monkeypatch, major)
    assert training_precision("auto", GPU) == precision
    assert reads_bf16("auto", GPU) is (precision == "bf16")


def test_other_accelerators_train_in_fp32_and_a_named_format_is_taken():
    assert training_precision("auto", torch.device("mps")) == "fp32"
    for name in ("bf16", "fp16", "fp32"):
        assert training_precision(name, CPU) == name


def test_batches_of_an_accelerator_grow_with_its_memory(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (8 << 30, 16 << 30))
    assert inference_tokens(CPU, 384) == devices.CPU_TOKENS
    large, small = inference_tokens(GPU, 384), inference_tokens(GPU, 4096)
    assert devices.CPU_TOKENS < small < large
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (0, 16 << 30))
    assert inference_tokens(GPU, 384) == devices.CPU_TOKENS
    assert inference_tokens(torch.device("mps"), 384) > devices.CPU_TOKENS


def test_this_machine_has_an_answer():
    assert has_fast_bf16(resolve_device("cpu")) in (True, False)
