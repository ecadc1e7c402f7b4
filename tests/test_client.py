"""The client gives the predictions of the library, and is patient with a service that is busy or away."""

from __future__ import annotations

import json

import pytest

from masker import Client, Prediction, client
from masker.detection.prediction import LabelSetPrediction
from masker.errors import ConfigError, DataError, MaskerError

httpx = pytest.importorskip("httpx", reason="httpx is not installed; pip install 'masker[serve]'")

ANSWER = {"label": "a", "confidence": 0.9, "p_value": 0.5, "ood_score": 1.5, "is_ood": False}


class Service:
    """Pretends to be one: gives these answers, one after the other, the last one for ever."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def __call__(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, tuple):
            return httpx.Response(answer[0], json={"error": "no, because", "error_type": "why"}, headers=answer[1])
        if answer is None:
            texts = json.loads(request.content)["texts"]
            return httpx.Response(200, json={"predictions": [ANSWER] * len(texts)})
        return answer


@pytest.fixture
def naps(monkeypatch):
    """What would have been slept."""
    seconds = []
    monkeypatch.setattr(client.time, "sleep", seconds.append)
    return seconds


def client_of(service, **options):
    return Client("http://service", transport=httpx.MockTransport(service), **options)


def test_answers_are_predictions(naps):
    service = Service(None)
    with client_of(service, token="secret") as caller:
        assert caller.predict(["x", "y"]) == [Prediction("a", 0.9, 0.5, 1.5, False)] * 2
        assert caller.predict([]) == []
    assert len(service.requests) == 1 and naps == []
    assert service.requests[0].headers["Authorization"] == "Bearer secret"
    assert service.requests[0].url == "http://service/v1/classify"


def test_answers_with_several_labels_and_with_none():
    told = [
        LabelSetPrediction("a", 0.9, 0.5, 0.1, False, ("a", "b"), (0.9, 0.6)),
        LabelSetPrediction(None, None, 0.4, 0.2, False),
    ]
    answer = httpx.Response(200, json={"predictions": [one.as_dict() for one in told]})
    with client_of(Service(answer)) as caller:
        assert caller.predict(["x", "y"]) == told


def test_pairs_and_further_wishes_are_passed_on():
    service = Service(None)
    with client_of(service) as caller:
        caller.classify([("x", "y")], top_k=3, evidence=True)
    assert json.loads(service.requests[0].content) == {"texts": [["x", "y"]], "top_k": 3, "evidence": True}


def test_many_texts_go_in_parts():
    service, count = Service(None), 2 * client.TEXTS_AT_A_TIME + 1
    with client_of(service) as caller:
        assert len(caller.predict(["x"] * count)) == count
    assert len(service.requests) == 3


@pytest.mark.parametrize(
    "trouble",
    [
        (429, {}),
        (503, {}),
        httpx.ConnectError("refused"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("disconnected"),
        httpx.ReadTimeout("slow"),
        httpx.Response(502, text="Bad Gateway"),
        httpx.Response(500, text="the replica died"),
    ],
)
def test_trouble_that_passes_is_waited_for(trouble, naps):
    service = Service(trouble, trouble, None)
    with client_of(service) as caller:
        assert len(caller.predict(["x"])) == 1
    assert len(service.requests) == 3
    assert client.FIRST_WAIT / 2 <= naps[0] <= client.FIRST_WAIT and naps[0] < naps[1] * 2


def test_a_wait_that_the_service_asks_for_is_kept(naps):
    with client_of(Service((429, {"Retry-After": "7"}), None)) as caller:
        caller.predict(["x"])
    assert naps == [7.0]


def test_trouble_that_does_not_pass_is_given_up(naps):
    service = Service(httpx.ConnectError("refused"))
    with (
        client_of(service, retries=2) as caller,
        pytest.raises(
            MaskerError,
            match=r"^http://service gives no answer after 3 attempts \(ConnectError: refused\); is it running\?$",
        ),
    ):
        caller.predict(["x"])
    assert len(service.requests) == 3 and len(naps) == 2


@pytest.mark.parametrize(
    ("status", "kind"), [(401, ConfigError), (403, ConfigError), (413, DataError), (422, DataError), (500, MaskerError)]
)
def test_what_a_retry_cannot_mend_is_raised_with_the_sentence_of_the_service(status, kind, naps):
    service = Service((status, {}))
    with client_of(service) as caller, pytest.raises(kind, match=r"^no, because$"):
        caller.predict(["x"])
    assert len(service.requests) == 1 and naps == []


def test_what_is_served_drift_and_reload():
    service = Service(httpx.Response(200, json={"classes": ["a"]}))
    with client_of(service) as caller:
        assert caller.model() == caller.drift() == caller.reload() == {"classes": ["a"]}
    assert [f"{one.method} {one.url.path}" for one in service.requests] == [
        "GET /v1/model", "GET /v1/drift", "POST /v1/reload",
    ]  # fmt: skip


def test_a_mistake_of_the_caller_is_named_before_anything_is_sent():
    with pytest.raises(DataError, match="got a single string"):
        client_of(Service(None)).predict("x")
    with pytest.raises(ConfigError, match="retries: must be at least 0; got -1"):
        Client("http://service", retries=-1)
    with pytest.raises(ConfigError, match="write it as http://127"):
        Client("service")
    with pytest.raises(ConfigError, match="write it as http://127"):
        Client("http://service:port")


def test_a_real_service_answers_as_its_model_does():
    pytest.importorskip("uvicorn")
    from masker.model import Model
    from masker.service import create_app
    from tests.service.conftest import FOLDER, TEXTS, listening

    model = Model.open(FOLDER)
    with listening(create_app(model)) as url, Client(url) as caller:
        found, wanted = caller.predict(TEXTS), model.predict(TEXTS)
        assert caller.model()["classes"] == model.labels
    assert [(one.label, one.is_ood) for one in found] == [(one.label, one.is_ood) for one in wanted]
    assert [one.ood_score for one in found] == pytest.approx([one.ood_score for one in wanted], rel=1e-3)
