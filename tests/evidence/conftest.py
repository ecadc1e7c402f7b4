"""A small model with keywords and class means."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from masker import Model

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture(scope="package")
def model() -> Model:
    return Model.open(FIXTURES / "masker-bert", device="cpu")


@pytest.fixture(scope="package")
def windowed(model) -> Model:
    """It reads texts in windows of 8 tokens, 6 of them content."""
    shape = model.settings.model.model_copy(update={"long_documents": "windows"})
    return replace(model, settings=model.settings.model_copy(update={"model": shape}), max_length=8)
