"""Groups among rejected texts, and a model that learns from them while it is served."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from filelock import FileLock

from masker import Model
from masker.config import build_settings
from masker.discovery import DiscoverySettings
from masker.service import ServiceOptions, create_app
from masker.service.failures import ServiceError
from masker.service.growth import group_texts
from masker.service.served_folder import ServedFolder

TORCH = Path(__file__).parents[1] / "fixtures" / "masker-bert"
TOKEN = {"Authorization": "Bearer open sesame"}
MARKET = [f"a very new stock market report {word}" for word in ("today", "again", "here", "now", "there", "soon")]
FOOD = "they found bread and soup in the old kitchen"


@pytest.fixture
def served(tmp_path):
    """A running service of a folder of its own, with a token."""
    folder = shutil.copytree(TORCH, tmp_path / "model")
    app = ServedFolder(str(folder), {"device": "cpu"}, ServiceOptions(token="open sesame"))()
    with TestClient(app, headers=TOKEN) as client:
        yield client, folder


def test_members_are_places_among_the_texts(model):
    found = group_texts(model, [FOOD, *MARKET], DiscoverySettings())
    rejected = [place for place, answer in enumerate(model.predict([FOOD, *MARKET])) if answer.is_ood]
    members = [place for group in found["groups"] for place in group["members"]]
    assert found["texts"] == 7 and found["rejected"] == len(rejected) > 0
    assert set(members) <= set(rejected) and len(members) == found["grouped"]
    everything = group_texts(model, [FOOD, *MARKET], DiscoverySettings(only_rejected=False))
    assert everything["rejected"] == 7 and 0 in [place for group in everything["groups"] for place in group["members"]]


def test_no_rejected_text_is_no_error(model):
    assert group_texts(model, [], DiscoverySettings())["groups"] == []


def test_extending_changes_the_folder_and_what_is_served(served):
    client, folder = served
    described = client.get("/v1/model").json()
    assert described["extend"] and described["discover"]
    before = client.post("/v1/classify", json={"texts": MARKET}).json()["predictions"]
    report = client.post("/v1/extend", json={"texts": MARKET, "labels": ["market"] * 6}).json()
    assert report["new_classes"] == ["market"] and report["added"] == {"market": 6}
    assert client.get("/v1/model").json()["classes"] == [*described["classes"], "market"]
    after = client.post("/v1/classify", json={"texts": MARKET}).json()["predictions"]
    assert sum(one["is_ood"] for one in after) < sum(one["is_ood"] for one in before)
    assert [one["label"] for one in after].count("market") >= 5
    assert Model.open(folder).provenance["extended"][0]["data"] == "service"


def test_a_refused_extension_leaves_the_model(served):
    client, folder = served
    before = (folder / "masker.json").read_bytes()
    assert client.post("/v1/extend", json={"texts": ["a"], "labels": []}).status_code == 422
    assert client.post("/v1/extend", json={"texts": ["a"], "labels": [" "]}).status_code == 422
    assert client.post("/v1/extend", json={"texts": [["a", "b"]], "labels": ["c"]}).status_code == 422
    assert (folder / "masker.json").read_bytes() == before


def test_who_may_extend(model, served):
    body = {"texts": ["a"], "labels": ["b"]}
    client, _ = served
    assert client.post("/v1/extend", json=body, headers={"Authorization": "Bearer no"}).status_code == 403
    with TestClient(create_app(model)) as anonymous:
        refused = anonymous.post("/v1/extend", json=body)
        assert refused.status_code == 403 and "--token-file" in refused.json()["error"]
        assert anonymous.get("/v1/model").json()["extend"] is False
    with TestClient(create_app(model, ServiceOptions(token="open sesame")), headers=TOKEN) as fixed:
        assert "cannot change its model" in fixed.post("/v1/extend", json=body).json()["error"]
    app = create_app(model, ServiceOptions(token="open sesame"), extender=lambda texts, labels: {})
    with TestClient(app, headers=TOKEN) as exported:
        refused = exported.post("/v1/extend", json=body)
        assert refused.status_code == 409 and "exported model" in refused.json()["error"]


def test_what_a_model_cannot_do_is_not_offered(model):
    """A conflict, with the reason, and no fault of the service: here a model that keeps no features of its classes."""
    opened = Model.open(TORCH, device="cpu")
    detector = opened.require_detector()
    bare = opened.with_detector(replace(detector, basis=replace(detector.basis, statistics=None)))
    app = create_app(bare, ServiceOptions(token="open sesame"), extender=lambda texts, labels: {})
    with TestClient(app, headers=TOKEN) as client:
        assert client.get("/v1/model").json()["extend"] is False
        refused = client.post("/v1/extend", json={"texts": ["a"], "labels": ["b"]})
        assert refused.status_code == 409 and refused.json()["error_type"] == "extend_failed"
        assert "keeps no features of its training texts" in refused.json()["error"]
    number = replace(opened, detector=None, classes=[])
    service = create_app(number, ServiceOptions(token="open sesame"), make_monitor=None, extender=lambda *_: {})
    growth = service.state.service.growth
    assert not growth.offers_groups and not growth.offers_extension
    with pytest.raises(ServiceError, match="this model is a regression") as refused:
        growth.require_groups()
    assert refused.value.status == 409 and refused.value.error_type == "discover_failed"


def test_a_model_in_16_bits_may_be_extended():
    """The folder has the full weights, and it is what is extended."""
    opened = Model.open(TORCH, "torch-bf16", device="cpu")
    service = create_app(opened, ServiceOptions(token="open sesame"), extender=lambda *_: {}).state.service
    assert service.growth.offers_extension


def test_an_extended_model_that_cannot_be_served_is_not_to_be_extended_again(served, monkeypatch):
    client, _ = served

    async def failing(everywhere):
        raise ServiceError(409, "reload_failed", "the model before stays in service: no memory")

    monkeypatch.setattr(client.app.state.service, "reload", failing)
    refused = client.post("/v1/extend", json={"texts": MARKET, "labels": ["market"] * 6})
    assert refused.status_code == 409 and "do not send these texts again" in refused.json()["error"]


def test_one_at_a_time(model):
    growth = create_app(model).state.service.growth

    async def scenario():
        async with growth._busy:
            await growth.discover(MARKET, DiscoverySettings())

    with pytest.raises(ServiceError, match="try again") as refused:
        asyncio.run(scenario())
    assert refused.value.status == 429


def test_a_folder_that_another_process_extends_is_left_to_it(served):
    client, folder = served
    before = (folder / "masker.json").read_bytes()
    with FileLock(folder.with_name(f".{folder.name}.extend.lock")):
        refused = client.post("/v1/extend", json={"texts": MARKET, "labels": ["market"] * 6})
    assert refused.status_code == 429 and refused.headers["Retry-After"] == "5"
    assert refused.json()["error"] == "another worker extends the model; try again"
    assert (folder / "masker.json").read_bytes() == before


def test_a_model_of_several_labels_is_not_extended(model):
    several = replace(model, settings=build_settings(model.settings.model_dump(), {"model": {"head": "multi-label"}}))
    options = ServiceOptions(token="open sesame")
    service = create_app(several, options, make_monitor=None, extender=lambda texts, labels: {}).state.service
    assert not service.growth.offers_extension
    with pytest.raises(ServiceError, match="several labels cannot be extended; train it anew") as refused:
        service.growth.require_extension()
    assert refused.value.status == 409
