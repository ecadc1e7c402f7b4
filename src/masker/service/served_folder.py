"""A model folder as a service: made once, and sent to every worker or replica."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from masker.errors import ConfigError
from masker.model import Model
from masker.service.application import create_app
from masker.service.growth import FolderExtender
from masker.service.page_routes import FolderEvidence
from masker.service.service_options import ServiceOptions


@dataclass(frozen=True)
class ServedFolder:
    """A model folder, how to open it, and how to serve it. Calling it makes the application.

    Attributes:
        folder: The model folder.
        opening: Arguments of :meth:`masker.Model.open` besides the folder.
        options: Limits and settings.
        reloads: Whether the folder may be opened again.
    """

    folder: str
    opening: dict[str, Any] = field(default_factory=dict)
    options: ServiceOptions = field(default_factory=ServiceOptions)
    reloads: bool = True

    def open(self) -> Model:
        """Open the model."""
        return Model.open(self.folder, **self.opening)

    def __call__(self) -> FastAPI:
        """The application."""
        reopen = self.open if self.reloads else None
        extender = FolderExtender(self.folder, self.opening.get("device", "auto")) if self.reloads else None
        evidence = FolderEvidence(self.folder)
        app = create_app(self.open(), self.options, reopen=reopen, evidence=evidence, extender=extender)
        app.state.service.name = Path(self.folder).expanduser().resolve().name
        app.state.service.backend = self.opening.get("backend")
        return app


def read_token(path: str) -> str:
    """The token in a file.

    Raises:
        ConfigError: When there is none.
    """
    try:
        token = Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--token-file '{path}' cannot be read ({error})") from None
    if not token:
        raise ConfigError(f"--token-file '{path}' is empty; write into it what 'openssl rand -hex 32' prints, say")
    return token
