"""``masker review``."""

from __future__ import annotations

from typing import Any

import click

from masker.cli import options as shared


@click.command(name="review", cls=shared.SectionedCommand, short_help="Choose the texts to label next.")
@click.argument("model")
@click.argument("data")
@click.option("--budget", type=click.IntRange(min=1), required=True, metavar="N", help="Texts to choose.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False),
    default="review.csv",
    show_default=True,
    metavar="FILE",
    help="A .csv table, or .json for tasks of Label Studio.",
)
@click.option("--overwrite", is_flag=True, help="Replace a table that is there, with the labels in it.")
@shared.json_option
@shared.backend_option
@shared.device_option
@shared.data_options
def review_command(model: str, data: str, as_json: bool, **options: Any) -> None:
    """Choose N texts of DATA whose labels would help the model in the folder MODEL most.

    A mix: texts near the threshold, texts between two classes, and one from the middle of each group that 'masker
    discover' would find; no two that say nearly the same. Label them and give them to 'masker extend'.

    \b
    masker review model today.csv --budget 50            fill in the labels, then
    masker extend model review.csv --output model2 --skip-invalid
    masker review model today.csv --budget 50 --output tasks.json  (Label Studio)
    """  # noqa: D301
    from masker.commands.review import ReviewOptions, review
    from masker.report.groups_console import print_review

    settings = shared.read_data_settings(options)
    shared.print_result(review(model, data, settings, ReviewOptions(**options)), as_json, print_review)
