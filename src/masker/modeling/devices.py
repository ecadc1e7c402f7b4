"""Which floating-point format training uses on this machine."""

from __future__ import annotations

from typing import Literal

import torch


def has_fast_bf16() -> bool:
    """Whether the processor multiplies bfloat16 in hardware; elsewhere bfloat16 would be slower than float32."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def use_bf16(precision: Literal["auto", "bf16", "fp32"]) -> bool:
    """Resolve the ``precision`` setting: ``auto`` asks the machine."""
    return precision == "bf16" or (precision == "auto" and has_fast_bf16())
