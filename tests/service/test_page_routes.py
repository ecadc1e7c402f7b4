"""The page's files and what it asks for; :mod:`tests.browser` opens it in a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from masker import Documents, Model
from masker.evidence import choose_examples
from masker.service import ServiceOptions, create_app
from masker.service.page_routes import FolderEvidence, page_files

FOLDER = Path(__file__).parents[1] / "fixtures" / "masker-bert"
FOOD, FOREIGN = "they found bread and soup in the old kitchen", "a very new stock market report"


@pytest.fixture(scope="module")
def model() -> Model:
    return Model.open(FOLDER, device="cpu")


@pytest.fixture(scope="module")
def client(model):
    with TestClient(create_app(model)) as client:
        yield client


def test_the_page_and_its_files(client):
    page = client.get("/")
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    named = re.findall(r'(?:href|src)="(page/[^"]+)"', page.text)
    assert len(named) >= 4
    for address in named:
        answer = client.get("/" + address)
        assert answer.status_code == 200 and answer.headers["x-content-type-options"] == "nosniff"
    assert client.get("/page/main.js").headers["content-type"].startswith("text/javascript")


def test_every_module_that_is_imported_is_there():
    content = {name: body.decode() for name, (body, _) in page_files().items()}
    for text in content.values():
        assert set(re.findall(r'from "\./([^"]+)"', text)) <= set(content)


@pytest.mark.parametrize("name", ["nothing.js", "..%2f__init__.py", "%2e%2e/routes.py", "index.html%00", "x" * 500])
def test_other_files_are_not_the_pages(client, name):
    answer = client.get(f"/page/{name}")
    assert answer.status_code == 404 and set(answer.json()) == {"error", "error_type"}


def test_the_policy_lets_nothing_in_from_elsewhere(client):
    for path in ("/", "/page/main.js", "/page/icon.svg"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy


def test_the_page_needs_no_inline_code_and_no_other_host():
    for name, (body, _) in page_files().items():
        text = body.decode().replace("http://www.w3.org/", "")
        assert "http" not in text.lower().replace("https", "http").replace("http header", ""), name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), name
        assert not re.search(r"<script>|<style|style=|\son[a-z]+=\"", text), name


def test_the_files_are_shipped():
    """Everything in the folder matches a pattern of the package data."""
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '"service/page/*"' in project
    assert {entry.name for entry in files("masker.service").joinpath("page").iterdir()} == set(page_files())


def test_evidence_on_request(client):
    body = {"text": FOOD, "top_k": 2, "evidence": True}
    [answer] = client.post("/v1/classify", json=body).json()["predictions"]
    assert len(answer["top_k"]) == 2
    assert [FOOD[start:end] for part in answer["evidence"]["parts"] for _, start, end in part["spans"]] == FOOD.split()
    [plain] = client.post("/v1/classify", json={"text": FOOD}).json()["predictions"]
    assert "evidence" not in plain


def test_evidence_with_training_texts(model, tmp_path):
    """The folder is looked at once for each model: after a reload it may have others."""
    finder = FolderEvidence(str(tmp_path))
    assert finder(model, [FOOD], [])[0]["examples"] is None
    choose_examples(model, Documents([FOOD, FOREIGN], None, ["food", "sport"], "made up"), 2).save(tmp_path)
    assert finder(model, [FOOD], [])[0]["examples"] is None
    reloaded = replace(model)
    assert finder(reloaded, [FOOD], [])[0]["examples"][0]["text"] == FOOD


def test_calibration(client, model):
    histogram = client.get("/v1/calibration").json()
    assert histogram["documents"] == len(model.detector.calibration.scores)
    assert histogram["thresholds"] == model.detector.calibration.thresholds.tolist()


def test_a_model_that_rejects_nothing_and_one_that_predicts_numbers(model):
    """Infinity is no JSON."""
    never = replace(model.detector.calibration, thresholds=np.full(3, np.inf))
    with TestClient(create_app(model.with_detector(replace(model.detector, calibration=never)))) as client:
        assert client.get("/v1/calibration").json()["thresholds"] == [None] * 3
        assert client.get("/v1/model").status_code == 200
    head = model.settings.model.model_copy(update={"head": "regression"})
    settings = model.settings.model_copy(update={"model": head})
    with TestClient(create_app(replace(model, detector=None, settings=settings))) as client:
        assert client.get("/v1/calibration").json() is None


def test_traffic(model):
    with TestClient(create_app(model)) as client:
        assert client.get("/v1/traffic").json() == {"requests": 0, "texts": 0, "rejected": 0}
        client.post("/v1/classify", json={"texts": [FOOD, FOREIGN, FOREIGN]})
        client.post("/v1/classify", json={})
        assert client.get("/v1/traffic").json() == {"requests": 2, "texts": 3, "rejected": 2}


def test_the_page_is_open_and_its_data_is_not(model):
    with TestClient(create_app(model, ServiceOptions(token="open sesame"))) as client:
        assert client.get("/").status_code == client.get("/page/page.css").status_code == 200
        for path in ("/v1/calibration", "/v1/traffic"):
            assert client.get(path).status_code == 401
            assert client.get(path, headers={"Authorization": "Bearer open sesame"}).status_code == 200
