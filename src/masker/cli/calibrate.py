"""``masker calibrate``."""

from __future__ import annotations

from typing import Any

import click

from masker.cli import options as shared


@click.command(name="calibrate", cls=shared.SectionedCommand, short_help="Set a new threshold, without training.")
@click.argument("model")
@click.argument("data")
@click.option("--output", type=click.Path(), metavar="FOLDER", help="Write a copy of the model instead of changing it.")
@click.option(
    "--statistics", metavar="FILE", help="Labelled training texts, if the model has no statistics for --score."
)
@shared.json_option
@shared.score_option
@shared.false_alarm_option
@shared.confidence_option
@shared.class_conditional_option
@shared.missed_rate_option
@shared.ood_examples_option
@shared.backend_option
@shared.device_option
@shared.data_options
def calibrate_command(
    model: str, data: str, output: str | None, as_json: bool, backend: str | None, device: str, **options: Any
) -> None:
    """Calibrate the model in the folder MODEL on DATA, new texts of its classes, without training.

    Sets the threshold so that at most the false-alarm rate of such texts is rejected and, if DATA has labels, the
    confidence. Options that you leave out keep the model's values; --score auto chooses the score anew on
    half of DATA.
    """
    from masker.commands.calibrate import CalibrationChanges, calibrate
    from masker.report.console import print_calibration

    settings = shared.read_data_settings(options)
    changes = CalibrationChanges(**options)
    report = calibrate(model, data, settings, changes, output=output, backend=backend, device=device)
    shared.print_result(report, as_json, print_calibration)
