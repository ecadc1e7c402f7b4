"""``masker evaluate``."""

from __future__ import annotations

from typing import Any

import click

from masker.cli import options as shared


@click.command(name="evaluate", cls=shared.SectionedCommand, short_help="Measure accuracy, false alarms, detection.")
@click.argument("model")
@click.argument("test")
@click.option("--ood", multiple=True, metavar="FILE", help="Out-of-distribution texts; repeatable.")
@click.option("--ood-where", multiple=True, metavar="COLUMN=VALUE[,...]", help="Read only these rows of --ood.")
@click.option(
    "--resamples", type=click.IntRange(min=1), metavar="N", default=1000, show_default=True, help="Bootstrap resamples."
)
@click.option("--report", "with_report", is_flag=True, help="Also write the report with figures to MODEL.report.")
@shared.json_option
@shared.score_option
@shared.false_alarm_option
@shared.confidence_option
@shared.missed_rate_option
@shared.backend_option
@shared.device_option
@shared.data_options
def evaluate_command(
    model: str,
    test: str,
    ood: tuple[str, ...],
    ood_where: tuple[str, ...],
    with_report: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure the model in the folder MODEL on the labelled file TEST and on out-of-distribution files.

    Accuracy and calibration; the false-alarm rate that TEST shows, with its interval; the errors left when only the
    most certain texts are answered (AURC); detection of each out-of-distribution file.
    """
    from masker.commands.evaluate import EvaluationSources, evaluate
    from masker.documents.filters import parse_where
    from masker.errors import ConfigError
    from masker.model import Model
    from masker.report.console import print_evaluation

    if ood_where and not ood:
        raise ConfigError("--ood-where filters out-of-distribution texts; give them with --ood FILE")
    settings = shared.read_data_settings(options)
    resamples = options.pop("resamples")
    opened = Model.open(model, **options)  # backend, device, score and the promise are left
    sources = EvaluationSources(test, ood, parse_where(ood_where))
    if with_report:
        from masker.report.report_console import evaluate_with_report

        report = evaluate_with_report(opened, model, sources, settings, resamples)
    else:
        report = evaluate(opened, sources, settings, resamples=resamples)
    shared.print_result(report, as_json, print_evaluation)
