"""``masker train``."""

from __future__ import annotations

import logging
from typing import Any

import click

from masker.cli.options import (
    build_from_options,
    class_conditional_option,
    data_options,
    false_alarm_option,
    ood_examples_option,
    score_option,
    settings_options,
)


@click.command()
@click.argument("data")
@click.option("--output", required=True, type=click.Path(), metavar="MODEL", help="Folder to write the model to.")
@click.option("--restart", is_flag=True, help="Discard an unfinished run instead of going on with it.")
@score_option
@false_alarm_option
@class_conditional_option
@ood_examples_option
@settings_options
@data_options
def train(
    data: str,
    output: str,
    restart: bool,
    score: str | None,
    false_alarm_rate: float | None,
    class_conditional: bool | None,
    ood_examples: str | None,
    **options: Any,
) -> None:
    """Train a classifier on DATA and write it to the folder MODEL.

    DATA is a CSV, TSV, JSONL (also .gz) or Parquet file with columns text and label (and text_pair for pairs), a
    corpus by name (see 'masker data list'), or a `datasets` folder or id.

    To train on several devices or machines: torchrun --nproc-per-node N -m masker train DATA --output MODEL
    """
    detection = {"score": score, "false_alarm_rate": false_alarm_rate, "class_conditional": class_conditional}
    keywords = options["keywords"]
    settings = build_from_options(options, detection=detection)

    from masker import distributed
    from masker.commands.train import train_run
    from masker.config import KEYWORD_METHODS
    from masker.errors import ConfigError
    from masker.report.console import print_training

    method = settings.training.method
    if keywords is not None and method not in KEYWORD_METHODS:
        logging.getLogger("masker").warning("--keywords is not used: method %s has no keyword stage", method)
    if settings.model.head == "regression" and any(value is not None for value in detection.values()):
        raise ConfigError(
            "a regression has no classes to be out of; leave out --score, --false-alarm-rate and --class-conditional"
        )
    rule = settings.detection
    highest = rule.false_alarm_rate if "false_alarm_rate" in rule.model_fields_set else None
    summary = train_run(data, output, settings, restart=restart, ood_examples=ood_examples, highest_rate=highest)
    if distributed.is_first():
        print_training(summary)
