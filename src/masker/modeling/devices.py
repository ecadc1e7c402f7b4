"""Where a network runs, and in which floating-point format.

Every format question is put to the device that will do the work, not to the best device of the machine.
"""

from __future__ import annotations

import os
import re
from typing import Literal

import torch

from masker import distributed
from masker.errors import ConfigError

Precision = Literal["auto", "bf16", "fp16", "fp32"]

#: Tokens of one inference batch, padding included. On a CPU larger batches are slower: they leave its cache.
CPU_TOKENS = 1024
#: On an accelerator a batch may use this share of the free memory,
_MEMORY_SHARE = 0.3
#: which a token takes up with about this many values of the hidden size while a layer is computed,
_VALUES_PER_TOKEN = 48
#: and beyond this many tokens a larger batch gains nothing.
_MOST_TOKENS = 65_536


def resolve_device(name: str = "auto") -> torch.device:
    """The device ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps``; ``auto`` is the accelerator if there is one."""
    if name == "auto":
        accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        if accelerator is None:
            return torch.device("cpu")
        # Each process of a distributed run on one machine has a device of its own.
        own = f":{os.environ['LOCAL_RANK']}" if distributed.world_size() > 1 else ""
        return torch.device(f"{accelerator.type}{own}")
    if not re.fullmatch(r"cpu|cuda(:\d+)?|mps", name):
        raise ConfigError(f"device must be auto, cpu, cuda, cuda:N or mps; got '{name}'")
    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise ConfigError(f"device '{name}' is not on this machine, which has {count} CUDA devices; use --device auto")
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise ConfigError("device 'mps' is not on this machine; use --device auto")
    return device


def has_fast_bf16(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 in hardware; elsewhere bfloat16 is slower than float32."""
    if device.type == "cpu":
        # Torch may be told to leave AVX-512 out (ATEN_CPU_CAPABILITY).
        used = torch.backends.cpu.get_cpu_capability() == "AVX512"
        return used and bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
    return device.type == "cuda" and torch.cuda.get_device_capability(device)[0] >= 8


def training_precision(precision: Precision, device: torch.device) -> Literal["bf16", "fp16", "fp32"]:
    """The format to train in; ``auto`` is bf16 where it is fast, fp16 with loss scaling on older GPUs, else fp32."""
    if precision != "auto":
        return precision
    if has_fast_bf16(device):
        return "bf16"
    return "fp16" if device.type == "cuda" else "fp32"


def reads_bf16(precision: Precision, device: torch.device) -> bool:
    """Whether a model trained with this setting is also read in bfloat16."""
    return training_precision(precision, device) == "bf16"


def inference_tokens(device: torch.device, hidden_size: int) -> int:
    """Tokens of one inference batch: bounded by the cache of a CPU, by the free memory of an accelerator."""
    if device.type == "cpu":
        return CPU_TOKENS
    if device.type != "cuda":
        return 16 * CPU_TOKENS
    free, _ = torch.cuda.mem_get_info(device)
    fitting = int(_MEMORY_SHARE * free / (_VALUES_PER_TOKEN * hidden_size * 4))
    return max(CPU_TOKENS, min(_MOST_TOKENS, fitting))
