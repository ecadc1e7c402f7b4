"""``masker monitor``."""

from __future__ import annotations

import sys
from typing import Any

import click

from masker.cli import options as shared

#: 1 is what a crash returns and 2 a wrong input.
ALARM = 3


@click.command(name="monitor", cls=shared.SectionedCommand, short_help="Say whether the traffic has changed.")
@click.argument("model")
@click.argument("data")
@click.option("--time-column", metavar="NAME", help="Order the rows by this column: ISO dates or numbers.")
@click.option("--state", type=click.Path(), metavar="FILE", help="Continue from this file if it exists, and write it.")
@click.option("--plot", type=click.Path(), metavar="FILE", help="Draw the course of the traffic, .svg or .png.")
@click.option(
    "--reference",
    type=click.Choice(["calibration", "traffic"]),
    default="calibration",
    show_default=True,
    help="Compare with the texts the model was calibrated on and all since, or with earlier traffic only.",
)
@click.option("--alarm-rate", type=float, metavar="X", help="Probability of any false alarm.  [default: 0.01]")
@click.option("--horizon", type=int, metavar="N", help="Texts that the rate is stated for.  [default: 100000]")
@click.option("--window", type=int, metavar="N", help="Texts of the sliding window.  [default: 500]")
@shared.json_option
@shared.score_option
@shared.backend_option
@shared.device_option
@shared.data_options
def monitor_command(model: str, data: str, plot: str | None, as_json: bool, **options: Any) -> None:
    """Say whether the texts of DATA ('-' reads standard input) are still like those that MODEL was calibrated on.

    No labels are needed. The rows are taken as they come, or by --time-column. Exit code 0: no alarm; 3: an alarm, in
    this run or, with --state, in an earlier one.
    """
    from masker.commands.monitor import MonitorOptions, monitor
    from masker.errors import ConfigError
    from masker.report.drift_console import print_drift
    from masker.report.drift_figure import check_figure, draw_drift

    if options["label_column"] is not None:
        raise ConfigError("monitor reads no labels; leave --label-column out")
    if plot is not None:
        check_figure(plot)
    settings = shared.read_data_settings(options)
    promise = {name: options.pop(name) for name in ("alarm_rate", "horizon", "window")}
    chosen = MonitorOptions(**options, promise={name: value for name, value in promise.items() if value is not None})
    state = monitor(model, data, settings, chosen)
    if plot is not None:
        draw_drift(state, plot)
    shared.print_result(state, as_json, print_drift)
    if state["alarm"]:
        sys.exit(ALARM)
