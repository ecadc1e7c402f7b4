"""Client: calls a service of ``masker serve`` and gives the answers of the library.

::

    with Client("http://127.0.0.1:8000") as client:
        for prediction in client.predict(["where is my parcel", "how do I bake sourdough bread"]):
            print(prediction.label, prediction.is_ood)
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from masker.detection.prediction import LabelSetPrediction, Prediction
from masker.errors import ConfigError, DataError, MaskerError
from masker.extras import require

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    import httpx

    from masker.documents.texts import Text

#: Texts of one request; more are sent in parts.
TEXTS_AT_A_TIME = 256
#: Seconds before the first retry; doubled with each.
FIRST_WAIT = 0.1
LONGEST_WAIT = 10.0

_FIELDS = ("label", "confidence", "p_value", "ood_score", "is_ood")


class Client:
    """A connection to a service.

    Requests that find the service busy (429), starting or stopping (503), or not there at all are repeated, with longer
    and longer waits; a wait that the service asks for is kept.

    Args:
        url: Where the service listens.
        token: Its bearer token, if it has one.
        retries: How often a request is repeated before it is given up.
        timeout: Seconds to wait for an answer.
        transport: Replaces the network, for tests.

    Raises:
        MissingPackageError: When httpx is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        retries: int = 5,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if retries < 0:
            raise ConfigError(f"retries: must be at least 0; got {retries}")
        self.url, self._retries = url, retries
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._httpx = require("masker.Client", "httpx")
        try:
            if not url.startswith(("http://", "https://")):
                raise self._httpx.InvalidURL("it does not begin with http:// or https://")
            self._http: httpx.Client = self._httpx.Client(
                base_url=url, headers=headers, timeout=timeout, transport=transport
            )
        except self._httpx.InvalidURL as error:
            raise ConfigError(f"url: '{url}' is none ({error}); write it as http://127.0.0.1:8000") from None

    def predict(self, texts: Sequence[Text]) -> list[Prediction]:
        """The answer for each text or pair of texts, as :meth:`masker.Model.predict` gives it.

        Of several labels, ``label`` is the most probable one that holds, and ``None`` if none does.

        Raises:
            ConfigError: When the token is missing or wrong.
            DataError: When the service refuses the texts.
            MaskerError: When it gives no answer.
        """
        return [_prediction(answer) for answer in self.classify(texts)]

    def classify(self, texts: Sequence[Text], *, top_k: int = 0, evidence: bool = False) -> list[dict[str, Any]]:
        """The answers as they come, with the most probable classes and the evidence if asked for."""
        if isinstance(texts, str):
            raise DataError("texts must be a list of strings; got a single string; put it into a list")
        answers: list[dict[str, Any]] = []
        for part in _parts(texts):
            asked = {"texts": part, "top_k": top_k, "evidence": evidence}
            answers += self._call("POST", "/v1/classify", asked)["predictions"]
        return answers

    def model(self) -> dict[str, Any]:
        """What is served: classes, score, promise, limits, where it comes from."""
        return self._call("GET", "/v1/model")

    def drift(self) -> dict[str, Any]:
        """What the service's monitor sees in its traffic."""
        return self._call("GET", "/v1/drift")

    def reload(self) -> dict[str, Any]:
        """Make the service open its model folder again; returns what is served then."""
        return self._call("POST", "/v1/reload")

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, method: str, path: str, content: dict[str, Any] | None = None) -> dict[str, Any]:
        reason = ""
        for wait in (*_waits(self._retries), None):
            pause = wait
            try:
                response = self._http.request(method, path, json=content)
            except self._httpx.TransportError as error:
                reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            else:
                if response.is_success:
                    return dict(response.json())
                body = _error_of(response)
                reason = f"{response.status_code}: {(body or {}).get('error') or response.reason_phrase}"
                if not _is_passing(response.status_code, body):
                    raise _failure(response.status_code, body or {"error": reason})
                asked = response.headers.get("Retry-After", "")
                if wait is not None and asked.isdecimal():
                    pause = max(wait, float(asked))
            if pause is not None:
                time.sleep(pause)
        raise MaskerError(f"{self.url} gives no answer after {self._retries + 1} attempts ({reason}); is it running?")


def _prediction(answer: dict[str, Any]) -> Prediction:
    if "labels" not in answer:
        return Prediction(**{name: answer[name] for name in _FIELDS})
    labels, confidence = tuple(answer["labels"]), tuple(answer["confidence"])
    kept = {name: answer[name] for name in _FIELDS if name in answer}
    best = {"label": labels[0], "confidence": confidence[0]} if labels else {"label": None, "confidence": None}
    return LabelSetPrediction(**{**kept, **best}, labels=labels, label_confidence=confidence)


def _parts(texts: Sequence[Text]) -> Iterator[Sequence[Text]]:
    for start in range(0, len(texts), TEXTS_AT_A_TIME):
        yield texts[start : start + TEXTS_AT_A_TIME]


def _waits(count: int) -> list[float]:
    """Seconds before each retry; the random part keeps many clients from coming back together."""
    return [min(LONGEST_WAIT, FIRST_WAIT * 2**number) * random.uniform(0.5, 1.0) for number in range(count)]


def _error_of(response: httpx.Response) -> dict[str, Any] | None:
    """The body of an error of ours; ``None`` if something between us and the service answered."""
    try:
        body = response.json()
    except ValueError:
        return None
    return body if isinstance(body, dict) and {"error", "error_type"} <= set(body) else None


def _is_passing(status: int, body: dict[str, Any] | None) -> bool:
    """Whether the next attempt may succeed: a full or stopped service, or a proxy whose service is gone."""
    return status in (429, 503) or (status >= 500 and body is None)


def _failure(status: int, body: dict[str, Any]) -> MaskerError:
    if status in (401, 403):
        return ConfigError(str(body["error"]))
    if status in (413, 415, 422):
        return DataError(str(body["error"]))
    return MaskerError(str(body["error"]))
