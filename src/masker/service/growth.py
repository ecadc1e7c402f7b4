"""From rejected texts to new classes in a running service: groups among texts, and a model that learns from them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from masker.discovery import Discovery, DiscoverySettings, discover_groups
from masker.discovery.discovering import FoundGroups, store_texts
from masker.discovery.text_groups import discovery_sentence
from masker.discovery.text_space import TextSpace
from masker.discovery.text_store import CHUNK, TextStore
from masker.documents.texts import Text
from masker.errors import MaskerError
from masker.extras import require
from masker.inference.onnx_backend import OnnxBackend
from masker.model import Model
from masker.service.failures import ServiceError, overloaded

if TYPE_CHECKING:
    from masker.service.application import Service

#: Adds labelled texts to the model's folder and says what it did, JSON-ready.
Extender = Callable[[Sequence[Text], Sequence[Any]], dict[str, Any]]
#: Where the texts of a request are from, for the provenance of the model.
SOURCE = "service"
#: Seconds after which a refused caller may try again.
_WAIT = 5.0


class FolderExtender:
    """Extends the model of a folder in place."""

    def __init__(self, folder: str, device: str = "auto") -> None:
        self._folder, self._device = folder, device

    def __call__(self, texts: Sequence[Text], labels: Sequence[Any]) -> dict[str, Any]:
        require("extending a model", "torch", "transformers")
        from masker.extension import BusyFolderError, extend_folder

        try:
            made, _ = extend_folder(self._folder, texts, labels, device=self._device, data=SOURCE)
        except BusyFolderError:
            raise overloaded("another worker extends the model; try again", _WAIT) from None
        return {
            "added": made.added,
            "new_classes": made.new_classes,
            "classes": len(made.model.classes),
            "accuracy": made.accuracy,
            "kept": made.kept,
        }


def group_texts(model: Model, texts: Sequence[Text], settings: DiscoverySettings) -> dict[str, Any]:
    """The groups among texts, JSON-ready; ``members`` are places among the texts."""
    with TextStore() as store:
        read = store_texts(
            model,
            [texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK)],
            store,
            only_rejected=False,
            describe=lambda answer, place: {"is_ood": bool(answer.rejected[place])},
        )
        judged = [record["is_ood"] for chunk in store.chunks() for record in chunk.records]
        places = np.flatnonzero(judged) if settings.only_rejected else np.arange(read)
        found = _groups_of(model, store, places.tolist(), settings)
        labels = np.empty(0, dtype=np.int64) if found is None else found.labels
    groups = [] if found is None else found.groups
    summary = Discovery(
        "", "", read, len(places), int((labels >= 0).sum()), len(places), settings.only_rejected, groups
    )
    return {
        "sentence": discovery_sentence(summary),
        "texts": read,
        "rejected": len(places),
        "grouped": summary.grouped,
        "groups": [
            {**asdict(group), "members": places[labels == number].tolist()} for number, group in enumerate(groups)
        ],
    }


def _groups_of(model: Model, store: TextStore, places: list[int], settings: DiscoverySettings) -> FoundGroups | None:
    if not places:
        return None
    with TextStore() as part:
        part.add(*store.take(places))
        return discover_groups(model, part, settings)


class Growth:
    """Groups and extensions of a service: one at a time, in a thread of its own.

    Args:
        service: The service.
        extender: Changes the model's folder; ``None`` if it may not be changed.
    """

    def __init__(self, service: Service, extender: Extender | None) -> None:
        self._service, self._extender = service, extender
        self._busy = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, "masker-growth")

    @property
    def offers_groups(self) -> bool:
        """Whether texts can be grouped."""
        return self._offers(self.require_groups)

    @property
    def offers_extension(self) -> bool:
        """Whether a caller with the token may extend the model."""
        return self._offers(self.require_extension)

    @staticmethod
    def _offers(required: Callable[[], Any]) -> bool:
        try:
            required()
        except ServiceError:
            return False
        return True

    def require_groups(self) -> None:
        """Check that texts can be grouped.

        Raises:
            ServiceError: When the model or the machine lacks what it takes.
        """
        with _refused("discover_failed"):
            require("grouping texts", "sklearn")
            TextSpace.of(self._service.served.model)

    def require_extension(self) -> Extender:
        """What extends the model.

        Raises:
            ServiceError: When nothing may.
        """
        if self._service.options.token is None:
            message = "start the service with --token-file to extend over HTTP, or use 'masker extend'"
            raise ServiceError(403, "forbidden", message)
        if self._extender is None:
            message = "this service cannot change its model; use 'masker extend', and start it anew"
            raise ServiceError(409, "extend_failed", message)
        model = self._service.served.model
        if model.is_multi_label:
            raise ServiceError(409, "extend_failed", "a model of several labels cannot be extended; train it anew")
        if isinstance(model.backend, OnnxBackend):
            message = "the service runs an exported model; use 'masker extend', export it again, and reload"
            raise ServiceError(409, "extend_failed", message)
        with _refused("extend_failed"):
            require("extending a model", "torch", "transformers")
            from masker.extension import check_extendable

            check_extendable(model)
        return self._extender

    async def discover(self, texts: Sequence[Text], settings: DiscoverySettings) -> dict[str, Any]:
        """The groups among texts.

        Raises:
            ServiceError: When the texts are of the wrong kind or beyond a limit, or others are being grouped.
        """
        self.require_groups()
        model = self._service.served.model
        self._service.check(model, texts)
        found: dict[str, Any] = await self._alone(group_texts, model, texts, settings)
        return found

    async def extend(self, texts: Sequence[Text], labels: Sequence[Any]) -> dict[str, Any]:
        """Add labelled texts to the model's folder and serve the new model.

        Raises:
            ServiceError: When this service does not offer it, or another change is under way.
        """
        extender = self.require_extension()
        self._service.check(self._service.served.model, texts)
        report: dict[str, Any] = await self._alone(extender, texts, labels)
        try:
            await self._service.reload(everywhere=True)
        except ServiceError as error:
            message = f"the model in the folder is extended, so do not send these texts again; {error}"
            raise ServiceError(error.status, error.error_type, message) from error
        return report

    async def _alone(self, work: Callable[..., Any], *arguments: Any) -> Any:
        if self._busy.locked():
            raise overloaded("texts are being grouped, or the model extended, for another request; try again", _WAIT)
        async with self._busy:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def stop(self) -> None:
        """Wait for what is under way."""
        self._thread.shutdown()


@contextmanager
def _refused(error_type: str) -> Iterator[None]:
    """What this model cannot do is a conflict, and no fault of the request or of the service."""
    try:
        yield
    except MaskerError as error:
        raise ServiceError(409, error_type, str(error)) from error
