"""A small model folder, its model, and a running service of it in this process."""

from __future__ import annotations

import shutil
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="FastAPI is not installed; pip install 'masker[serve]'")

from fastapi.testclient import TestClient

from masker.model import Model
from masker.service import create_app

FOLDER = Path(__file__).parent.parent / "fixtures" / "exported-bert"
TEXTS = ["the rocket is near the moon", "some bread with garlic", "zzzz qqqq", ""]


@pytest.fixture(scope="session")
def model() -> Model:
    return Model.open(FOLDER)


@pytest.fixture
def folder(tmp_path) -> Path:
    """A copy of the model folder, to be changed."""
    return Path(shutil.copytree(FOLDER, tmp_path / "model"))


@pytest.fixture(scope="session")
def service(model):
    """An HTTP client of a running service with the default options."""
    with TestClient(create_app(model), raise_server_exceptions=False) as client:
        yield client


@contextmanager
def listening(app):
    """The address of an application that answers on a real port, from a thread."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
