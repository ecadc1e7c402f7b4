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
