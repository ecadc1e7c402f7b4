"""The service answers as the library does, within its limits, and reloads without dropping a request."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from masker import Prediction
from masker.model import Model
from masker.service import ServiceOptions, create_app
from tests.service.conftest import TEXTS


def running(model, options=None, **more) -> TestClient:
    return TestClient(create_app(model, options, **more), raise_server_exceptions=False)


def ask(client, status=200, **content):
    response = client.post("/v1/classify", json=content)
    assert response.status_code == status, response.text
    return response.json()["predictions"] if status == 200 else response.json()


def same(answer: dict, prediction: Prediction) -> bool:
    wanted = prediction.as_dict()
    numbers = ("confidence", "p_value", "ood_score")
    return (
        {key: answer[key] for key in ("label", "is_ood")} == {key: wanted[key] for key in ("label", "is_ood")}
        and all(answer[key] == pytest.approx(wanted[key], rel=1e-4) for key in numbers)
        and set(answer) == set(wanted)
    )


def test_answers_are_those_of_the_library(service, model):
    predictions = model.predict(TEXTS)
    assert all(map(same, ask(service, texts=TEXTS), predictions))
    assert same(ask(service, text=TEXTS[0])[0], predictions[0])
    assert ask(service, texts=[]) == []


def test_the_most_probable_classes_come_when_asked_for(service, model):
    (answer,) = ask(service, text=TEXTS[0], top_k=2)
    wanted = sorted(zip(model.judge(TEXTS[:1]).probabilities[0], model.labels, strict=True), reverse=True)[:2]
    assert [one["label"] for one in answer["top_k"]] == [label for _, label in wanted]
    assert [one["confidence"] for one in answer["top_k"]] == pytest.approx([p for p, _ in wanted], rel=1e-4)
    assert len(ask(service, text=TEXTS[0], top_k=99)[0]["top_k"]) == len(model.labels)


def test_a_model_of_pairs_takes_pairs_only(model):
    pairs = replace(model, pairs=True)
    with running(pairs) as client:
        predictions = pairs.predict([("a rocket", "the moon")])
        assert same(ask(client, texts=[["a rocket", "the moon"]])[0], predictions[0])
        assert same(ask(client, text="a rocket", text_pair="the moon")[0], predictions[0])
        refused = ask(client, 422, text="a rocket")
    sentence = "this model was trained on pairs of texts (columns text and text_pair); the input is of the other kind"
    assert refused == {"error": sentence, "error_type": "validation"}


def test_a_model_of_texts_refuses_pairs_even_among_texts(service):
    assert "trained on single texts" in ask(service, 422, texts=["a", ["b", "c"]])["error"]


def test_a_regression_answers_with_numbers(model):
    head = model.settings.model.model_copy(update={"head": "regression"})
    numbers = replace(model, detector=None, settings=model.settings.model_copy(update={"model": head}))
    with running(numbers) as client:
        (answer,) = ask(client, text=TEXTS[0], top_k=3)
    assert answer.pop("top_k") == []
    assert answer["label"] == pytest.approx(numbers.predict(TEXTS[:1])[0].label, rel=1e-4)
    assert answer["confidence"] is None and answer["is_ood"] is None


@pytest.mark.parametrize(
    ("limits", "texts", "sentence"),
    [
        ({"max_texts": 2}, ["a"] * 3, "a request may have 2 texts; got 3; send them in parts"),
        ({"max_characters": 5}, ["a", "abcdef"], "a text may have 5 characters; number 2 has 6; shorten it"),
    ],
)
def test_what_is_beyond_a_limit_is_refused(model, limits, texts, sentence):
    with running(model, ServiceOptions(**limits)) as client:
        assert ask(client, 413, texts=texts) == {"error": sentence, "error_type": "too_large"}
        assert ask(client, texts=["a"])


def test_evidence_comes_from_what_the_app_was_given(model):
    def lengths(model, texts, predictions):
        return [{"letters": len(text), "label": one.label} for text, one in zip(texts, predictions, strict=True)]

    with running(model, ServiceOptions(max_evidence=2), evidence=lengths) as client:
        answers = ask(client, texts=TEXTS[:2], evidence=True)
        assert [one["evidence"]["letters"] for one in answers] == [len(text) for text in TEXTS[:2]]
        assert "a request for evidence may have 2 texts" in ask(client, 413, texts=["a"] * 3, evidence=True)["error"]
        assert client.get("/v1/model").json()["evidence"] is True
    with running(model, evidence=None) as client:
        assert "does not offer it" in ask(client, 422, text="a", evidence=True)["error"]


class Monitor:
    def __init__(self):
        self.seen = []

    def observe(self, scores, labels):
        self.seen += list(zip(scores, labels, strict=True))

    def state(self):
        return {"observed": len(self.seen), "alarm": len(self.seen) > 1, "evidence": 2.5}


def test_the_monitor_is_told_scores_and_labels_in_order(model):
    monitor = Monitor()
    with running(model, make_monitor=lambda model: monitor) as client:
        assert client.get("/v1/drift").json()["observed"] == 0
        answers = ask(client, texts=TEXTS)
        assert [(pytest.approx(one["ood_score"]), one["label"]) for one in answers] == monitor.seen
        assert client.get("/v1/drift").json() == {"observed": 4, "alarm": True, "evidence": 2.5}
        metrics = client.get("/metrics").text
    assert "masker_drift_alarm 1.0" in metrics and "masker_drift_evidence 2.5" in metrics


def test_without_a_monitor_there_is_no_drift(service):
    assert service.get("/v1/drift").json() == {}


def test_what_is_served_is_described(service, model):
    described = service.get("/v1/model").json()
    assert described["classes"] == model.labels and described["pairs"] is False
    assert described["detector"]["score"] == model.require_detector().score.name
    assert described["limits"]["max_texts"] == ServiceOptions().max_texts


def test_a_service_that_does_not_run_is_not_ready(model):
    client = running(model)
    for path in ("/ready", "/v1/classify"):
        response = client.get(path) if path == "/ready" else client.post(path, json={"text": "a"})
        assert response.status_code == 503 and response.json()["error_type"] == "not_ready"
    assert client.get("/health").json() == {"status": "ok"}
    with running(model) as client:
        assert client.get("/ready").json() == {"status": "ready"}


SECRET = {"Authorization": "Bearer secret"}


def test_a_reload_serves_the_new_model_and_an_invalid_folder_leaves_the_old_one(folder):
    def reopen():
        return Model.open(folder)

    app = create_app(reopen(), ServiceOptions(token="secret"), reopen=reopen)
    with TestClient(app, headers=SECRET) as client:
        before = client.get("/v1/model").json()
        manifest = (folder / "masker.json").read_text()
        (folder / "masker.json").write_text("{")
        refused = client.post("/v1/reload")
        assert refused.status_code == 409 and refused.json()["error_type"] == "reload_failed"
        assert "the model before stays in service" in refused.json()["error"]
        assert client.get("/v1/model").json() == before and ask(client, text="a")
        (folder / "masker.json").write_text(manifest.replace('"space"', '"cosmos"'))
        assert "cosmos" in client.post("/v1/reload").json()["classes"]
        assert {one["label"] for one in ask(client, texts=TEXTS)} <= {"cosmos", "food", "sport"}
        shutil.rmtree(folder)
        assert client.post("/v1/reload").status_code == 409 and ask(client, text="a")
        metrics = client.get("/metrics").text
    assert 'masker_reloads_total{result="failed"} 2.0' in metrics
    assert 'masker_reloads_total{result="done"} 1.0' in metrics


def test_no_request_is_dropped_by_a_reload(model):
    """Requests run while the model is exchanged many times; each gets its answer."""
    app = create_app(model, ServiceOptions(token="secret"), reopen=lambda: replace(model))
    answers, stop = [], threading.Event()
    with TestClient(app, headers=SECRET) as client:

        def load():
            while not stop.is_set():
                answers.append(len(ask(client, texts=TEXTS)))

        threads = [threading.Thread(target=load) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            assert client.post("/v1/reload").status_code == 200
        stop.set()
        for thread in threads:
            thread.join()
    assert answers and set(answers) == {4}


def test_a_service_without_a_folder_cannot_reload(model):
    with running(model, ServiceOptions(token="secret")) as client:
        refused = client.post("/v1/reload", headers=SECRET)
    assert refused.status_code == 409 and "not started from a model folder" in refused.json()["error"]


def test_a_reload_over_http_needs_a_token(service):
    refused = service.post("/v1/reload")
    assert refused.status_code == 403 and "SIGHUP" in refused.json()["error"]


def test_a_bug_is_an_error_of_the_same_form(model):
    def broken(model, texts, predictions):
        raise ZeroDivisionError

    with running(model, evidence=broken) as client:
        refused = ask(client, 500, text="a", evidence=True)
    assert refused["error_type"] == "internal" and "ZeroDivisionError" in refused["error"]
