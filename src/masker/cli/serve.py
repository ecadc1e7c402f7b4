"""``masker serve``."""

from __future__ import annotations

from typing import Any

import click

from masker.cli import options as shared


@click.command(name="serve", cls=shared.SectionedCommand, short_help="Answer over HTTP.")
@click.argument("model")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port to listen on.")
@shared.score_option
@shared.false_alarm_option
@shared.confidence_option
@shared.backend_option
@shared.device_option
def serve_command(model: str, host: str, port: int, **options: Any) -> None:
    """Serve the model in the folder MODEL: POST /v1/classify, GET /v1/model."""
    from masker.commands.predict_options import PredictOptions
    from masker.commands.serve import serve
    from masker.service import ServiceOptions

    serve(model, PredictOptions(**options), ServiceOptions(), host=host, port=port)
