"""The service of a model, and its ASGI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI

from masker.documents.texts import Text, kind_mismatch
from masker.errors import MaskerError
from masker.model import Model
from masker.service.answering import (
    Classified,
    EvidenceFinder,
    MonitorMaker,
    Scorer,
    ServedModel,
    drift_monitor,
    top_classes,
)
from masker.service.api_page import add_api_page
from masker.service.batch_queue import BatchQueue
from masker.service.failures import ServiceError, add_error_handlers, invalid, too_large
from masker.service.front_door import FrontDoor
from masker.service.growth import Extender, Growth
from masker.service.growth_routes import growth_routes
from masker.service.page_routes import add_page, requested_evidence
from masker.service.routes import add_routes
from masker.service.service_metrics import ServiceMetrics
from masker.service.service_options import ServiceOptions

_log = logging.getLogger("masker")

#: Seconds between looks at the queue and the drift for the metrics.
_LOOK = 2.0
#: Enough texts to open everything that is opened when it is first needed.
_WARM_UP = 64


class Service:
    """What the routes share; ``app.state.service``.

    Attributes:
        served: The model that new requests get; those accepted before a reload keep theirs.
        name: What the model is called.
        backend: What runs its network.
        options: Limits and settings.
        metrics: Counts.
        queue: Where requests wait.
        on_start: Called in the event loop when it starts.
        tell_others: Makes all workers reload, this one included.
        told_others: Whether it did, and the answer has not come yet.
        growth: Groups among rejected texts, and new classes.
    """

    def __init__(
        self,
        model: Model,
        options: ServiceOptions,
        reopen: Callable[[], Model] | None = None,
        make_monitor: MonitorMaker | None = None,
        evidence: EvidenceFinder | None = None,
        extender: Extender | None = None,
    ) -> None:
        self.options, self.evidence = options, evidence
        self.name: str = "model"
        self.backend: str | None = None
        self.metrics = ServiceMetrics()
        self.queue: BatchQueue[ServedModel, Classified] = BatchQueue(Scorer(self.metrics), options)
        self.on_start: list[Callable[[], None]] = []
        self.tell_others: Callable[[], None] | None = None
        self.told_others = False
        self._reopen, self._make_monitor = reopen, make_monitor
        self._reloading = asyncio.Lock()
        self._searching: ThreadPoolExecutor | None = None
        self.served = self._in_service(model)
        self.growth = Growth(self, extender)

    def _in_service(self, model: Model) -> ServedModel:
        return ServedModel(model, None if self._make_monitor is None else self._make_monitor(model))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Accept requests inside the context; leaving it finishes those that were accepted."""
        await asyncio.to_thread(_warm_up, self.served.model)
        self._searching = ThreadPoolExecutor(1, "masker-evidence")
        await self.queue.start()
        noting = asyncio.create_task(self._note())
        for start in self.on_start:
            start()
        try:
            yield
        finally:
            await self.queue.stop()
            noting.cancel()
            with suppress(asyncio.CancelledError):
                await noting
            self._searching.shutdown()
            self.growth.stop()

    async def _note(self) -> None:
        while True:
            self.note()
            await asyncio.sleep(_LOOK)

    def note(self) -> None:
        """Bring the metrics up to date."""
        self.metrics.note(self.queue.waiting, self.served.drift())

    async def classify(self, texts: Sequence[Text], *, top_k: int = 0, evidence: bool = False) -> list[dict[str, Any]]:
        """JSON-ready answers, in the order of the texts.

        Raises:
            ServiceError: When the request is beyond a limit, of the wrong kind, or comes at a bad time.
        """
        served = self.served
        self.check(served.model, texts, evidence=evidence)
        classified = await self.queue.submit(served, texts, served.longest)
        answers = [one.prediction.as_dict() for one in classified]
        if top_k:
            for answer, one in zip(answers, classified, strict=True):
                answer["top_k"] = top_classes(served.model, one, top_k)
        if evidence and self.evidence is not None:
            predictions = [one.prediction for one in classified]
            loop = asyncio.get_running_loop()
            found = await loop.run_in_executor(self._searching, self.evidence, served.model, texts, predictions)
            for answer, words in zip(answers, found, strict=True):
                answer["evidence"] = words
        return answers

    def check(self, model: Model, texts: Sequence[Text], *, evidence: bool = False) -> None:
        """Refuse texts that are beyond a limit, or of the wrong kind.

        Raises:
            ServiceError: When they are.
        """
        if evidence and self.evidence is None:
            raise invalid("evidence: this service does not offer it; leave it out")
        most = self.options.max_evidence if evidence else self.options.max_texts
        if len(texts) > most:
            what = "a request for evidence" if evidence else "a request"
            raise too_large(f"{what} may have {most} texts; got {len(texts)}; send them in parts")
        limit = self.options.max_characters
        for place, text in enumerate(texts):
            if isinstance(text, str) == model.pairs:
                raise invalid(kind_mismatch(model.pairs))
            size = len(text) if isinstance(text, str) else len(text[0]) + len(text[1])
            if size > limit:
                raise too_large(f"a text may have {limit} characters; number {place + 1} has {size}; shorten it")

    async def reload(self, *, everywhere: bool = False) -> None:
        """Open the model's folder again, and serve what is in it from the next request on.

        Args:
            everywhere: Tell the other workers, too.

        Raises:
            ServiceError: When the service was not made from a folder, or it cannot be opened: then the model stays.
        """
        if self._reopen is None:
            raise ServiceError(409, "reload_failed", "this service was not started from a model folder")
        async with self._reloading:
            try:
                model = await asyncio.to_thread(_opened_and_warm, self._reopen)
            except Exception as error:
                self.metrics.count_reload("failed")
                reason = str(error) if isinstance(error, MaskerError) else f"{type(error).__name__}: {error}"
                _log.error("reload failed; the model before stays", extra={"fields": {"error": reason}})
                raise ServiceError(409, "reload_failed", f"the model before stays in service: {reason}") from error
            self.served = self._in_service(model)
        if everywhere and self.tell_others is not None:
            self.told_others = True
            self.tell_others()
        self.metrics.count_reload("done")
        _log.info("model reloaded", extra={"fields": {"model": self.name}})

    def describe(self) -> dict[str, Any]:
        """What ``GET /v1/model`` answers."""
        model = self.served.model
        return {
            "name": self.name,
            "backend": self.backend,
            "opened": self.served.opened.isoformat(timespec="milliseconds"),
            "classes": model.labels,
            "regression": model.is_regression,
            "multi_label": model.is_multi_label,
            "pairs": model.pairs,
            "max_length": model.max_length,
            "detector": model.describe_detector(),
            "validation": model.validation,
            "provenance": model.provenance,
            "evidence": self.evidence is not None,
            "discover": self.growth.offers_groups,
            "extend": self.growth.offers_extension,
            "limits": self.options.limits(),
            "masker": version("masker"),
        }


def _opened_and_warm(reopen: Callable[[], Model]) -> Model:
    model = reopen()
    _warm_up(model)
    return model


def _warm_up(model: Model) -> None:
    text: Text = ("a text", "and another") if model.pairs else "a text"
    model.predict([text])
    model.predict([text] * _WARM_UP)


def create_app(
    model: Model,
    options: ServiceOptions | None = None,
    *,
    reopen: Callable[[], Model] | None = None,
    make_monitor: MonitorMaker | None = drift_monitor,
    evidence: EvidenceFinder | None = requested_evidence,
    extender: Extender | None = None,
) -> FastAPI:
    """Make the service of a model.

    Args:
        model: The model.
        options: Limits and settings.
        reopen: Opens the model again, for a reload.
        make_monitor: Makes what watches the traffic of a model; it is told the score and the label of every answer, and
            ``/metrics`` and ``/v1/drift`` show what it sees; ``None`` watches nothing.
        evidence: Finds what an answer rests on, for requests with ``evidence``; ``None`` refuses these.
        extender: Adds labelled texts to what ``reopen`` opens, for callers with the token; ``None`` refuses.
    """
    service = Service(model, options or ServiceOptions(), reopen, make_monitor, evidence, extender)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with service.running():
            yield

    app = FastAPI(
        title="masker",
        version=version("masker"),
        summary="Classifies texts, and says when a text belongs to none of the classes.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    add_error_handlers(app)
    paths = add_routes(app, service, growth_routes(service))
    add_api_page(app)
    add_page(app, service)
    app.add_middleware(FrontDoor, options=service.options, metrics=service.metrics, paths=paths)
    return app
