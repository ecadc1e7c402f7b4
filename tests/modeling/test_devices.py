"""Which floating-point format training uses."""

import pytest
import torch

from masker.modeling import devices as precision
from masker.modeling.devices import has_fast_bf16, use_bf16


@pytest.mark.parametrize("fast", [True, False])
def test_auto_asks_the_machine_and_the_others_do_not(fast, monkeypatch):
    monkeypatch.setattr(precision, "has_fast_bf16", lambda: fast)
    assert use_bf16("auto") is fast
    assert use_bf16("bf16") is True
    assert use_bf16("fp32") is False


@pytest.mark.parametrize(
    ("avx512", "amx", "fast"), [(True, False, True), (False, True, True), (True, True, True), (False, False, False)]
)
def test_processor(avx512, amx, fast, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    assert has_fast_bf16() is fast


@pytest.mark.parametrize("supported", [True, False])
def test_graphics_card_is_asked_without_emulation(supported, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        torch.cuda, "is_bf16_supported", lambda including_emulation: supported and not including_emulation
    )
    assert has_fast_bf16() is supported


def test_this_machine_has_an_answer():
    assert has_fast_bf16() in (True, False)
