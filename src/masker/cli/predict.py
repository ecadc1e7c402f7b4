"""``masker predict``."""

from __future__ import annotations

import logging
from typing import Any

import click

from masker.cli import options as shared


@click.command(name="predict", cls=shared.SectionedCommand, short_help="Classify texts, rejecting foreign ones.")
@click.argument("model")
@click.argument("data")
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True, help="Of the output."
)
@click.option("--output", type=click.Path(), metavar="FILE|FOLDER", help="Write here instead of to standard output.")
@click.option("--with-text", is_flag=True, help="Repeat the input text in each row.")
@click.option("--reject", is_flag=True, help="Give out-of-distribution texts the label null.")
@click.option("--engine", type=click.Choice(["local", "ray"]), help="Predict a folder of files, one output file each.")
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Files at a time, with --engine ray.")
@click.option("--address", metavar="HOST:PORT", help="A running Ray cluster.  [default: RAY_ADDRESS, or none]")
@shared.score_option
@shared.false_alarm_option
@shared.confidence_option
@shared.missed_rate_option
@shared.backend_option
@shared.device_option
@shared.data_options
def predict_command(
    model: str,
    data: str,
    output: str | None,
    engine: str | None,
    workers: int | None,
    address: str | None,
    **options: Any,
) -> None:
    """Classify the texts of DATA ('-' reads standard input) with the model in the folder MODEL.

    One row per text, in order: label, confidence, p_value (about the share of the model's own texts that look as
    strange), ood_score (higher = more out-of-distribution), is_ood. A model of several labels gives labels, the
    confidence of each, and none if no label holds.

    With --engine, DATA is a folder of CSV, TSV, JSONL or Parquet files (or a pattern in quotes), and each becomes one
    file of the folder --output. Finished files are kept unless model, input or options have changed.
    """
    from masker.commands.predict_options import PredictOptions
    from masker.errors import ConfigError

    settings = shared.read_data_settings(options)
    chosen = PredictOptions(**options)
    if engine != "ray" and (workers is not None or address is not None):
        raise ConfigError("--workers and --address need --engine ray; add it, or leave them out")
    if engine is None:
        from masker.commands.predict import predict

        predict(model, data, settings, chosen, output)
        return
    if output is None:
        raise ConfigError("--engine writes one file per input file; name their folder with --output")

    from masker.commands.predict_shards import predict_shards
    from masker.ray.cluster import RayOptions

    ray = RayOptions(workers, address) if engine == "ray" else None
    summary = predict_shards(model, data, output, settings, chosen, ray=ray)
    counts = summary.rows, summary.predicted, summary.kept
    logging.getLogger("masker").info("%d rows; %d files predicted, %d kept", *counts)
