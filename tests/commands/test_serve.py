"""``masker serve`` hands the folder to the server of this machine, or to Ray."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi", reason="FastAPI is not installed; pip install 'masker[serve]'")

from masker.commands.serve import serve
from masker.ray.cluster import RayOptions
from masker.service import deployment, server
from masker.service.served_folder import ServedFolder
from masker.service.server import Listening


@pytest.fixture
def calls(monkeypatch):
    made = []
    monkeypatch.setattr(server, "run_server", lambda *arguments: made.append(("here", *arguments)))
    monkeypatch.setattr(deployment, "serve_on_ray", lambda *arguments: made.append(("ray", *arguments)))
    return made


def test_the_engine_decides(calls):
    served, listening, ray = ServedFolder("model"), Listening(), RayOptions(2, None)
    serve(served, listening)
    serve(served, listening, ray=ray)
    assert calls == [("here", served, served.options, listening), ("ray", served, listening, ray)]
