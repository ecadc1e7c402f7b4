"""``masker train``."""

from __future__ import annotations

import logging
from typing import Any

import click

from masker.cli import options as shared


@click.command(name="train", cls=shared.SectionedCommand, short_help="Train a classifier.")
@click.argument("data")
@click.option("--output", type=click.Path(), metavar="MODEL", help="Folder to write the model to.")
@click.option("--restart", is_flag=True, help="Discard an unfinished run instead of resuming it.")
@click.option(
    "--keep-examples",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Keep N training texts in the folder, so that the page of 'masker serve' can show the nearest.",
)
@click.option("--plan", is_flag=True, help="Print what would be decided, without training.")
@click.option("--no-report", is_flag=True, help="Leave out the report beside the model.")
@shared.score_option
@shared.false_alarm_option
@shared.confidence_option
@shared.class_conditional_option
@shared.missed_rate_option
@shared.ood_examples_option
@shared.settings_options
@shared.keywords_option("attention")
@shared.data_options
@shared.device_option
def train_command(
    data: str,
    output: str | None,
    restart: bool,
    no_report: bool,
    plan: bool,
    keep_examples: int,
    ood_examples: str | None,
    device: str,
    **options: Any,
) -> None:
    """Train a classifier on DATA and write it to the folder MODEL.

    DATA is a CSV, TSV, JSONL (also .gz) or Parquet file with columns text and label (and text_pair for pairs; labels
    instead of label for lists such as a;b), a corpus by name (see 'masker data list'), or a `datasets` folder or id.

    An interrupted run resumes when you repeat the command. A report with figures is written to MODEL.report.

    \b
    On several devices or machines:
    torchrun --nproc-per-node N -m masker train DATA --output MODEL
    """  # noqa: D301
    rules = ("score", "false_alarm_rate", "confidence", "class_conditional", "missed_rate")
    detection = {key: options.pop(key) for key in rules}
    keywords, preset = options["keywords"], options["preset"]
    settings = shared.build_from_options(options, detection=detection)

    from masker import distributed
    from masker.commands.train import OodExamples, train, training_plan
    from masker.errors import ConfigError
    from masker.registry import METHODS
    from masker.report.console import print_decisions, print_training

    method = METHODS.get(settings.training.method)
    if keywords is not None and not method.keywords:
        logging.getLogger("masker").warning("--keywords is ignored: method %s does not use keywords", method.name)
    if settings.model.head == "regression" and any(value is not None for value in detection.values()):
        raise ConfigError(
            "a regression has no classes to be out of; leave out --score, --false-alarm-rate, --confidence, "
            "--class-conditional and --missed-rate"
        )
    if plan:
        print_decisions(training_plan(data, settings), preset)
        return
    if output is None:
        raise ConfigError("--output is missing; name the folder to write the model to, or add --plan to train nothing")
    rule = settings.detection
    highest = rule.false_alarm_rate if "false_alarm_rate" in rule.model_fields_set else None
    examples = None if ood_examples is None else OodExamples(ood_examples, highest)
    how: dict[str, Any] = {"device": device, "restart": restart, "keep_examples": keep_examples}
    summary = train(data, output, settings, examples=examples, **how)
    if distributed.is_first():
        from masker.report.report_console import report_training

        print_training(summary, preset)
        report_training(summary, with_page=not no_report)
