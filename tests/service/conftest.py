"""A small model folder, its model, and a running service of it in this process."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="FastAPI is not installed; pip install 'masker[serve]'")

from fastapi.testclient import TestClient

from masker.model import Model
from masker.service import create_app

FOLDER = Path(__file__).parent.parent / "fixtures" / "masker-bert"
TEXTS = ["the rocket is near the moon", "some bread with garlic", "zzzz qqqq", ""]


@pytest.fixture(scope="session")
def model() -> Model:
    return Model.open(FOLDER, device="cpu")


@pytest.fixture
def folder(tmp_path) -> Path:
    """A copy of the model folder, to be changed."""
    return Path(shutil.copytree(FOLDER, tmp_path / "model"))


@pytest.fixture(scope="session")
def service(model):
    """An HTTP client of a running service with the default options."""
    with TestClient(create_app(model), raise_server_exceptions=False) as client:
        yield client
