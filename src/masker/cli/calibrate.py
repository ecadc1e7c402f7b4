"""``masker calibrate``."""

from __future__ import annotations

import json
from typing import Any

import click

from masker.cli.options import (
    SectionedCommand,
    backend_option,
    class_conditional_option,
    data_options,
    data_values,
    device_option,
    false_alarm_option,
    json_option,
    ood_examples_option,
    score_option,
)


@click.command(name="calibrate", cls=SectionedCommand, short_help="Set a new threshold, without training.")
@click.argument("model")
@click.argument("data")
@click.option("--output", type=click.Path(), metavar="FOLDER", help="Write a copy of the model instead of changing it.")
@click.option(
    "--statistics", metavar="FILE", help="Labelled training texts, if the model has no statistics for --score."
)
@json_option
@score_option
@false_alarm_option
@class_conditional_option
@ood_examples_option
@backend_option
@device_option
@data_options
def calibrate_command(
    model: str, data: str, output: str | None, as_json: bool, backend: str | None, device: str, **options: Any
) -> None:
    """Calibrate the model in the folder MODEL on DATA, new texts of its classes, without training.

    Sets the threshold so that at most the false-alarm rate of such texts is rejected and, if DATA has labels, the
    confidence. Options that you leave out keep the model's values; --score auto chooses the score anew on
    half of DATA.
    """
    from masker.commands.calibrate import CalibrationChanges, calibrate
    from masker.config import build_settings
    from masker.report.console import print_calibration

    settings = build_settings({"data": data_values(options)}).data
    changes = CalibrationChanges(**options)
    report = calibrate(model, data, settings, changes, output=output, backend=backend, device=device)
    if as_json:
        click.echo(json.dumps(report, indent=1))
    else:
        print_calibration(report)
