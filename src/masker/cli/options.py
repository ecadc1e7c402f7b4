"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]

#: As in :mod:`masker.config`, whose import would slow down ``--help``; a test compares the two.
METHODS = ("masker", "vanilla", "residual", "openmax", "doc", "ocsvm", "linear")
HEADS = ("one-vs-rest", "multi-class", "regression")


def data_options(command: Command) -> Command:
    """How to read rows: columns, encoding, limit."""
    for option in (
        click.option("--text-column", metavar="NAME", help="Column with the text (found by name if not given)."),
        click.option("--pair-column", metavar="NAME", help="Column with the second text of a pair."),
        click.option("--label-column", metavar="NAME", help="Column with the label."),
        click.option("--encoding", metavar="NAME", help="Encoding of text files.  [default: utf-8]"),
        click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Use only the first N rows."),
        click.option("--where", multiple=True, metavar="COLUMN=VALUE[,...]", help="Use only such rows; repeatable."),
        click.option("--skip-invalid", is_flag=True, default=None, help="Leave out rows without text or label."),
    ):
        command = option(command)
    return command


def data_values(options: dict[str, Any]) -> dict[str, Any]:
    """The ``data`` section that :func:`data_options` describe; takes its entries out of ``options``."""
    from masker.documents.filters import parse_where

    return {
        "text_column": options.pop("text_column"),
        "text_pair_column": options.pop("pair_column"),
        "label_column": options.pop("label_column"),
        "encoding": options.pop("encoding"),
        "limit": options.pop("limit"),
        "where": parse_where(options.pop("where")),
        "skip_invalid": options.pop("skip_invalid"),
    }


def backend_option(command: Command) -> Command:
    """What runs the network."""
    kinds = click.Choice(["torch", "torch-bf16", "onnx", "onnx-int8"])
    option = click.option("--backend", type=kinds, help="What runs the network; ONNX needs 'masker export' first.")
    return option(command)


def device_option(command: Command) -> Command:
    """Where the network runs."""
    option = click.option("--device", metavar="NAME", help="auto, cpu, cuda, cuda:N or mps.  [default: auto]")
    return option(command)


def score_option(command: Command) -> Command:
    """Which out-of-distribution score. Its names are checked by the settings, or by the model that is opened."""
    option = click.option(
        "--score",
        metavar="NAME",
        help="Out-of-distribution score: auto, max-prob (the paper's), energy, mahalanobis, knn, ... (docs/scores.md).",
    )
    return option(command)


def false_alarm_option(command: Command) -> Command:
    """The rate that a model promises."""
    option = click.option(
        "--false-alarm-rate",
        type=float,
        metavar="X",
        help="Reject at most this share of the texts that do belong to a class.  [default: the model's, or 0.05]",
    )
    return option(command)


def class_conditional_option(command: Command) -> Command:
    """The rate within each class."""
    option = click.option(
        "--class-conditional/--no-class-conditional",
        default=None,
        help="Keep the false-alarm rate within each predicted class, not only on the whole.",
    )
    return option(command)


def ood_examples_option(command: Command) -> Command:
    """Examples that set the operating point."""
    option = click.option(
        "--ood-examples",
        metavar="FILE",
        help="Out-of-distribution texts to set the false-alarm rate by (at most the one given); shows the trade-off.",
    )
    return option(command)


def settings_options(command: Command) -> Command:
    """The settings of a training run that deserve an option of their own, and ``--config`` / ``--set`` for the rest."""
    for option in (
        click.option("--method", type=click.Choice(METHODS), help="[default: masker]"),
        click.option(
            "--head",
            type=click.Choice(HEADS),
            help="[default: one-vs-rest; multi-class for openmax, ocsvm and linear]",
        ),
        click.option(
            "--keywords",
            metavar="SCHEME|FILE",
            help="attention, frequency, random, or a file of words.  [default: attention]",
        ),
        click.option(
            "--attention-model",
            metavar="MODEL",
            help="Read attention keywords off this model; saves the vanilla stage.",
        ),
        click.option("--backbone", metavar="NAME|HUB_ID|FOLDER", help="Encoder to fine-tune.  [default: minilm]"),
        click.option("--preset", metavar="NAME", help="Training as in the paper: ood or cross-domain."),
        click.option(
            "--epochs",
            type=int,
            metavar="N",
            help="Of each stage; half as many for the first with --preset.  [default: 3; 6 with --preset; 10 for doc]",
        ),
        click.option("--batch-size", type=int, metavar="N", help="Documents in a batch, over all processes."),
        click.option("--learning-rate", type=float, metavar="X"),
        click.option("--max-length", type=int, metavar="N", help="Tokens of a document that are read.  [default: 256]"),
        click.option("--seed", type=int, metavar="N", help="[default: 0]"),
        click.option("--config", type=click.Path(), metavar="FILE", help="YAML or JSON file with any settings."),
        click.option(
            "--set", "overrides", multiple=True, metavar="SECTION.KEY=VALUE", help="Any single setting; repeatable."
        ),
    ):
        command = option(command)
    return command


def build_from_options(options: dict[str, Any], **sections: dict[str, Any]) -> Any:
    """Settings from the options of :func:`settings_options` and :func:`data_options`."""
    from masker.config import build_settings

    layer = {
        "data": data_values(options),
        "model": {key: options.pop(key) for key in ("head", "backbone", "max_length")},
        "keywords": {"source": options.pop("keywords"), "attention_model": options.pop("attention_model")},
        "training": {key: options.pop(key) for key in ("method", "epochs", "batch_size", "learning_rate", "seed")},
    }
    return build_settings(
        layer,
        sections,
        preset=options.pop("preset"),
        config_file=options.pop("config"),
        overrides=options.pop("overrides"),
    )
