"""``masker serve``."""

from __future__ import annotations

from typing import Any

import click

from masker.cli import options as shared


class _ServeCommand(shared.SectionedCommand):
    sections = {  # noqa: RUF012 - never changed
        "Options": (),
        "Detection": shared.SECTIONS["Detection"],
        "Limits": (
            "max_batch_tokens", "batch_wait_ms", "max_queue", "max_texts", "max_characters", "max_body_bytes",
            "request_timeout",
        ),
        "Advanced": ("device", "backend", "engine", "address", "log_level", "log_texts"),
    }  # fmt: skip


def _limit(name: str, metavar: str, text: str, kind: Any = int) -> shared.Decorator:
    return click.option(f"--{name}", type=kind, metavar=metavar, help=text)


@click.command(name="serve", cls=_ServeCommand, short_help="Answer over HTTP.")
@click.argument("model")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Listen on this address.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Listen on this port.")
@click.option(
    "--workers", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Processes, or replicas."
)
@click.option("--token-file", metavar="FILE", help="Answer only callers with the bearer token in this file.")
@click.option("--allow-anonymous", is_flag=True, help="Listen beyond this machine without a token.")
@_limit("max-batch-tokens", "N", "Tokens scored together.  [default: 8192]")
@_limit("batch-wait-ms", "MS", "How long an idle service waits for more requests.  [default: 1]", float)
@_limit("max-queue", "N", "Texts that may wait before callers get 429.  [default: 4096]")
@_limit("max-texts", "N", "Texts of a request.  [default: 1024]")
@_limit("max-characters", "N", "Characters of a text.  [default: 100000]")
@_limit("max-body-bytes", "N", "Bytes of a request.  [default: 8388608]")
@_limit("request-timeout", "S", "Seconds until a request is given up.  [default: 30]", float)
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", help="ray: replicas on a Ray cluster.")
@click.option("--address", metavar="HOST:PORT", help="A running Ray cluster.  [default: RAY_ADDRESS, or none]")
@click.option(
    "--log-level", type=click.Choice(["info", "warning"]), default="info", help="warning: no line for each request."
)
@click.option("--log-texts", is_flag=True, help="Show texts in the log.")
@shared.score_option
@shared.false_alarm_option
@shared.confidence_option
@shared.backend_option
@shared.device_option
def serve_command(
    model: str,
    host: str,
    port: int,
    workers: int,
    token_file: str | None,
    allow_anonymous: bool,
    engine: str,
    address: str | None,
    **options: Any,
) -> None:
    """Serve the model in the folder MODEL over HTTP.

    \b
    POST /v1/classify   {"text": "..."} or {"texts": ["...", "..."]}
    GET  /v1/model      classes, score, promise
    GET  /docs          the whole API
    GET  /metrics       for Prometheus

    SIGHUP opens the folder again; a folder that cannot be opened leaves the model in service. Logs are lines of JSON on
    standard error, without the texts.
    """  # noqa: D301 - the line break is click's
    from masker.commands.serve import serve
    from masker.errors import ConfigError
    from masker.extras import require
    from masker.ray.cluster import RayOptions

    require("masker serve", "fastapi", "uvicorn", "prometheus_client")
    from masker.service.served_folder import ServedFolder, read_token
    from masker.service.server import Listening
    from masker.service.service_options import ServiceOptions

    if address is not None and engine != "ray":
        raise ConfigError("--address needs --engine ray; add it, or leave --address out")
    opening = {name: options.pop(name) for name in ("backend", "score", "false_alarm_rate", "device", "confidence")}
    listening = Listening(host, port, workers, allow_anonymous, options.pop("log_level"))
    chosen = {name: value for name, value in options.items() if value is not None}
    token = None if token_file is None else read_token(token_file)
    served = ServedFolder(model, opening, ServiceOptions(**chosen, token=token))
    serve(served, listening, ray=RayOptions(workers, address) if engine == "ray" else None)
