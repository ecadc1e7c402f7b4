"""``masker predict``."""

from __future__ import annotations

from typing import Any

import click

from masker.cli.options import backend_option, data_options, data_values


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("--format", "form", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True)
@click.option("--output", type=click.Path(), metavar="FILE", help="Write to FILE instead of standard output.")
@click.option("--with-text", is_flag=True, help="Repeat the input text in each row.")
@backend_option
@data_options
def predict(
    model: str, data: str, form: str, output: str | None, with_text: bool, backend: str | None, **options: Any
) -> None:
    """Classify the texts of DATA ('-' reads standard input) with the model in the folder MODEL.

    One row for each text, in order: label, confidence, ood_score (higher = more out-of-distribution), is_ood.
    """
    from masker.config import build_settings
    from masker.predictions import write_predictions

    settings = build_settings({"data": data_values(options)})
    write_predictions(model, data, settings.data, form=form, output=output, with_text=with_text, backend=backend)
