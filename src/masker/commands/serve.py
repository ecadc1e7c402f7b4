"""``masker serve``: answer over HTTP."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from masker.commands.predict import open_with_options
from masker.commands.predict_options import PredictOptions
from masker.errors import ConfigError
from masker.extras import require
from masker.model import Model

if TYPE_CHECKING:
    from fastapi import FastAPI

    from masker.service.server import Listening
    from masker.service.service_options import ServiceOptions


@dataclass(frozen=True)
class ServedFolder:
    """A model folder, how to open it, and how to serve it. Made once, and sent to every worker."""

    folder: str
    opening: PredictOptions
    options: ServiceOptions

    def open(self) -> Model:
        """Open the model."""
        return open_with_options(self.folder, self.opening)

    def __call__(self) -> FastAPI:
        """The application."""
        from masker.service.application import create_app

        app = create_app(self.open(), self.options, reopen=self.open)
        app.state.service.name = Path(self.folder).expanduser().resolve().name
        app.state.service.backend = self.opening.backend
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
        raise ConfigError(
            f"--token-file '{path}' is empty; write the token into it, such as 'openssl rand -hex 32' makes"
        )
    return token


def serve(served: ServedFolder, listening: Listening, token_file: str | None = None) -> None:
    """Serve the model of a folder until the process is asked to stop.

    Raises:
        ConfigError: When the port is taken, or open to everybody by mistake.
        MissingPackageError: When the packages of ``masker[serve]`` are not installed.
        ModelError: When the model cannot be opened.
    """
    require("masker serve", "fastapi", "uvicorn", "prometheus_client")
    from masker.service.server import run_server

    if token_file is not None:
        served = replace(served, options=replace(served.options, token=read_token(token_file)))
    run_server(served, served.options, listening)
