"""``masker extend``."""

from __future__ import annotations

from typing import Any

import click

from masker.cli import options as shared


@click.command(name="extend", cls=shared.SectionedCommand, short_help="Add classes or examples, without training.")
@click.argument("model")
@click.argument("new")
@click.option("--output", type=click.Path(), metavar="FOLDER", help="Write a new model instead of replacing this one.")
@click.option("--retrain", is_flag=True, help="Train fully, on all texts, from the present weights; needs --data.")
@click.option("--data", metavar="FILE", help="The data that the model was trained on, for --retrain.")
@click.option("--restart", is_flag=True, help="Discard an unfinished --retrain instead of resuming it.")
@shared.json_option
@shared.device_option
@shared.data_options
def extend_command(model: str, new: str, as_json: bool, **options: Any) -> None:
    """Add the labelled texts NEW to the model in the folder MODEL: new classes, or examples of those it has.

    The encoder stays, the head grows, and the threshold is set anew, so that the false-alarm rate holds for old and new
    classes. Takes seconds, and no training data: the model kept features of it. It takes at least two texts of a
    class to tell how strange others of it may look; ten are a good start.

    NEW is a table with columns text and label, such as those of 'masker discover' and 'masker review', or an export of
    Label Studio.

    \b
    masker extend model labelled.csv --output model2
    masker extend model labelled.csv --output model2 --retrain --data train.csv
    """  # noqa: D301
    from masker.commands.extend import ExtendOptions, extend
    from masker.report.console import print_extension
    from masker.report.report_console import report_extension

    settings = shared.read_data_settings(options)
    report = extend(model, new, settings, ExtendOptions(**options))
    report_extension(report["model"])
    shared.print_result(report, as_json, print_extension)
