"""``masker serve``: answer over HTTP."""

from __future__ import annotations

from masker.commands.predict import open_with_options
from masker.commands.predict_options import PredictOptions
from masker.service import ServiceOptions, create_app


def serve(folder: str, opening: PredictOptions, options: ServiceOptions, *, host: str, port: int) -> None:
    """Serve the model of a folder until the process is asked to stop."""
    import uvicorn

    uvicorn.run(create_app(open_with_options(folder, opening), options), host=host, port=port)
