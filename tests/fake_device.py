"""A second device for machines without one.

``cuda:1`` stands for ``cpu:0``, which computes like the CPU and is told apart from ``cpu`` by its index. Whoever asks
for ``auto`` or ``cpu`` instead has lost the user's choice on the way.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

import torch

import masker

NAME = "cuda:1"
DEVICE = torch.device("cpu", 0)


def fake_device(monkeypatch, device: torch.device = DEVICE) -> list[str]:
    """Make ``cuda:1`` a device of this machine; the list fills with all names that are resolved."""
    asked: list[str] = []

    def resolve(name: str = "auto") -> torch.device:
        asked.append(name)
        return device if name in (NAME, str(device)) else torch.device("cpu")

    for module in pkgutil.walk_packages(masker.__path__, "masker."):
        if module.name.startswith(("masker.inference.", "masker.modeling.", "masker.training.", "masker.audit.")):
            importlib.import_module(module.name)
    for name, module in list(sys.modules.items()):
        if name.startswith("masker.") and hasattr(module, "resolve_device"):
            monkeypatch.setattr(module, "resolve_device", resolve)
    return asked
