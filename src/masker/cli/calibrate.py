"""``masker calibrate``."""

from __future__ import annotations

import json
from typing import Any

import click

from masker.cli.options import (
    backend_option,
    class_conditional_option,
    data_options,
    data_values,
    false_alarm_option,
    ood_examples_option,
    score_option,
)


@click.command()
@click.argument("model")
@click.argument("data")
@click.option(
    "--statistics",
    metavar="FILE",
    help="Labelled training texts, where the model has no statistics for --score.",
)
@click.option("--output", type=click.Path(), metavar="FOLDER", help="Write a copy of the model instead of changing it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@score_option
@false_alarm_option
@class_conditional_option
@ood_examples_option
@backend_option
@data_options
def calibrate(
    model: str,
    data: str,
    statistics: str | None,
    output: str | None,
    as_json: bool,
    score: str | None,
    false_alarm_rate: float | None,
    class_conditional: bool | None,
    ood_examples: str | None,
    backend: str | None,
    **options: Any,
) -> None:
    """Calibrate the model in the folder MODEL on DATA, new texts of its classes, without training.

    Sets the threshold so that at most the false-alarm rate of such texts are rejected and, where DATA has labels, the
    confidence. What is not given stays as it is in the model; --score auto is chosen anew on half of DATA.
    """
    from masker.commands.train import calibrate_run
    from masker.config import build_settings
    from masker.report.console import print_calibration

    report = calibrate_run(
        model,
        data,
        build_settings({"data": data_values(options)}).data,
        score=score,
        false_alarm_rate=false_alarm_rate,
        class_conditional=class_conditional,
        ood_examples=ood_examples,
        statistics=statistics,
        output=output,
        backend=backend,
    )
    if as_json:
        click.echo(json.dumps(report, indent=1))
    else:
        print_calibration(report)
