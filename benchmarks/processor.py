"""The kind of processor that figures belong to."""

from __future__ import annotations

import os
from pathlib import Path

import torch


def processor_kind() -> str:
    """For example "AVX-512 with bf16 and VNNI" or "AVX2"; marked if newer instructions were switched off."""
    capability = torch.backends.cpu.get_cpu_capability()
    file = Path("/proc/cpuinfo")
    flags = set(file.read_text(encoding="utf-8", errors="replace").split()) if file.exists() else set()
    if capability == "AVX512":
        extras = [name for flag, name in (("avx512_bf16", "bf16"), ("avx512_vnni", "VNNI")) if flag in flags]
        return "AVX-512" + (f" with {' and '.join(extras)}" if extras else "")
    return capability + (" (simulated)" if is_simulated() and "avx512f" in flags else "")


def is_simulated() -> bool:
    return "ATEN_CPU_CAPABILITY" in os.environ
