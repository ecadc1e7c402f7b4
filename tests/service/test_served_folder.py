"""A model folder as a service: picklable, opened as told, with the token of a file."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from fastapi.testclient import TestClient

from masker.errors import ConfigError, ModelError
from masker.service.served_folder import ServedFolder, read_token
from masker.service.service_options import ServiceOptions
from tests.service.conftest import FOLDER


def test_it_is_sent_to_workers_and_makes_the_application_there():
    served = pickle.loads(
        pickle.dumps(ServedFolder(str(FOLDER), {"backend": "onnx", "false_alarm_rate": 0.5}, ServiceOptions(token="t")))
    )
    with TestClient(served(), headers={"Authorization": "Bearer t"}) as client:
        described = client.get("/v1/model").json()
        assert client.post("/v1/reload").status_code == 200
    assert described["name"] == "exported-bert" and described["backend"] == "onnx"
    assert described["detector"]["false_alarm_rate"] == 0.5


def test_without_reloads_the_folder_is_opened_once():
    served = ServedFolder(str(FOLDER), options=ServiceOptions(token="t"), reloads=False)
    with TestClient(served(), headers={"Authorization": "Bearer t"}) as client:
        assert client.post("/v1/reload").status_code == 409


def test_a_folder_that_is_none_is_an_error_of_the_model(tmp_path):
    with pytest.raises(ModelError):
        ServedFolder(str(tmp_path / "nothing"))()


def test_a_token_is_what_is_in_the_file_without_its_line_end(tmp_path):
    file = tmp_path / "token"
    file.write_text("  s3cret\n")
    assert read_token(str(file)) == "s3cret"
    file.write_text("\n")
    with pytest.raises(ConfigError, match=r"is empty; write into it what 'openssl rand -hex 32' prints"):
        read_token(str(file))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_token(str(tmp_path / "nothing"))


def test_an_exported_model_is_served_without_torch():
    script = (
        "import sys\n"
        "from masker.service.served_folder import ServedFolder\n"
        "import masker.service.server\n"
        f"ServedFolder({str(FOLDER)!r})()\n"
        "heavy = {'torch', 'transformers', 'sklearn', 'ray', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
