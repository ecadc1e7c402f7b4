"""Options that several commands share, and help that groups them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from masker.extras import require

if TYPE_CHECKING:
    from masker.config import DataSettings

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

HEADS = ("one-vs-rest", "multi-class", "multi-label", "regression")
BACKENDS = ("torch", "torch-bf16", "onnx", "onnx-int8")

#: Sections of a command's help and the options in each, most used first. Others go to the first section.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Options": (),
    "Data": (
        "text_column", "label_column", "pair_column", "encoding", "where", "ood_where", "limit", "skip_invalid",
    ),
    "Training": (
        "method", "backbone", "preset", "epochs", "batch_size", "learning_rate", "max_length", "seed", "head",
        "keywords", "attention_model",
    ),
    "Detection": (
        "score", "false_alarm_rate", "confidence", "class_conditional", "missed_rate", "ood_examples", "statistics",
    ),
    "Advanced": ("device", "backend", "engine", "workers", "address", "resamples", "config", "overrides"),
}  # fmt: skip


class SectionedCommand(click.Command):
    """A command whose help shows its options in sections."""

    sections = SECTIONS

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        place = {name: (title, rank) for title, names in self.sections.items() for rank, name in enumerate(names)}
        rows: dict[str, list[tuple[int, tuple[str, str]]]] = {title: [] for title in self.sections}
        for rank, parameter in enumerate(self.get_params(ctx)):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                title, within = place.get(str(parameter.name), ("Options", rank))
                rows[title].append((within, record))
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl([record for _, record in sorted(records)])


def _bundle(*options: Decorator) -> Decorator:
    def decorate(command: Command) -> Command:
        for option in options:
            command = option(command)
        return command

    return decorate


def _check_device(context: click.Context, parameter: click.Parameter, name: str) -> str:
    """Refuse a device that this machine does not have before anything is read."""
    if name not in ("auto", "cpu"):
        require(f"--device {name}", "torch")
        from masker.modeling.devices import resolve_device

        resolve_device(name)
    return name


#: How to read rows.
data_options = _bundle(
    click.option("--text-column", metavar="NAME", help="Column with the text, if not found by name."),
    click.option("--pair-column", metavar="NAME", help="Column with the second text of a pair."),
    click.option("--label-column", metavar="NAME", help="Column with the label."),
    click.option("--encoding", metavar="NAME", help="Encoding of text files.  [default: utf-8]"),
    click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Read only the first N rows."),
    click.option("--where", multiple=True, metavar="COLUMN=VALUE[,...]", help="Read only these rows; repeatable."),
    click.option("--skip-invalid", is_flag=True, default=None, help="Skip rows without text or label."),
)
backend_option = click.option(
    "--backend", type=click.Choice(BACKENDS), help="What runs the network; ONNX needs 'masker export' first."
)
_DEVICES = "auto, cpu, cuda, cuda:N or mps.  [default: auto]"
device_option = click.option("--device", default="auto", metavar="NAME", callback=_check_device, help=_DEVICES)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
score_option = click.option(
    "--score",
    metavar="NAME",
    help="Out-of-distribution score: auto, max-prob (the paper's), energy, mahalanobis, knn, ... (docs/scores.md).",
)
false_alarm_option = click.option(
    "--false-alarm-rate",
    type=float,
    metavar="X",
    help="Reject at most this share of texts that belong to a class.  [default: the model's, or 0.05]",
)
confidence_option = click.option(
    "--confidence",
    type=float,
    metavar="P",
    help="Keep the rate for this model with this probability, such as 0.95, not only on average; 0: on average.",
)
class_conditional_option = click.option(
    "--class-conditional/--no-class-conditional",
    default=None,
    help="Keep the false-alarm rate within each predicted class, not only overall.",
)
missed_rate_option = click.option(
    "--missed-rate",
    type=float,
    metavar="X",
    help="Miss at most this share of a text's labels on average, if it has several.  [default: the model's, or 0.1]",
)
ood_examples_option = click.option(
    "--ood-examples",
    metavar="FILE",
    help="Out-of-distribution texts to set the false-alarm rate by, at most the one given; shows the trade-off.",
)
#: The settings of a training run that have an option of their own; ``--config`` and ``--set`` reach the rest.
settings_options = _bundle(
    click.option(
        "--method",
        metavar="NAME",
        help="masker, vanilla, residual, openmax, doc, ocsvm, linear, or a plug-in's.  [default: masker]",
    ),
    click.option(
        "--head",
        type=click.Choice(HEADS),
        help="One class, several labels, or numbers.  [default: multi-label for lists of labels; one-vs-rest for doc "
        "and residual, and with --preset for masker and vanilla but not residual; else multi-class]",
    ),
    click.option(
        "--attention-model", metavar="MODEL", help="Read attention keywords off this model; saves the vanilla stage."
    ),
    click.option(
        "--backbone",
        metavar="NAME|HUB_ID|FOLDER",
        help="Encoder to fine-tune: minilm, granite-30m, mpnet, or one of the hub or your own.  [default: minilm]",
    ),
    click.option("--preset", metavar="NAME", help="Train as in the paper: ood or cross-domain."),
    click.option(
        "--epochs",
        type=int,
        metavar="N",
        help="Passes over the documents.  [default: as many as they need; 6 with --preset, RoBERTa 12; 10 for doc]",
    ),
    click.option("--batch-size", type=int, metavar="N", help="Documents per batch, over all processes.  [default: 32]"),
    click.option("--learning-rate", type=float, metavar="X", help="Of the encoder.  [default: 1e-4]"),
    click.option("--max-length", type=int, metavar="N", help="Tokens of a document that are read.  [default: 256]"),
    click.option("--seed", type=int, metavar="N", help="Random seed.  [default: 0]"),
    click.option("--config", type=click.Path(), metavar="FILE", help="YAML or JSON file with any settings."),
    click.option(
        "--set", "overrides", multiple=True, metavar="SECTION.KEY=VALUE", help="Any single setting; repeatable."
    ),
)


def keywords_option(default: str) -> Decorator:
    """Which keywords."""
    text = f"attention, frequency, random, a plug-in's, or a file of words.  [default: {default}]"
    return click.option("--keywords", metavar="SCHEME|FILE", help=text)


def data_values(options: dict[str, Any]) -> dict[str, Any]:
    """The ``data`` section of the settings; takes the entries of :data:`data_options` out of ``options``."""
    from masker.documents.filters import parse_where

    same = {key: options.pop(key) for key in ("text_column", "label_column", "encoding", "limit", "skip_invalid")}
    return {**same, "text_pair_column": options.pop("pair_column"), "where": parse_where(options.pop("where"))}


def read_data_settings(options: dict[str, Any]) -> DataSettings:
    """Checked settings from the entries of :data:`data_options`, which it takes out of ``options``."""
    from masker.config import build_settings

    return build_settings({"data": data_values(options)}).data


def print_result(content: Any, as_json: bool, print_table: Callable[[Any], None]) -> None:
    """Print a report as ``--json`` asks."""
    if as_json:
        click.echo(json.dumps(content, indent=1))
    else:
        print_table(content)


def build_from_options(options: dict[str, Any], **sections: dict[str, Any]) -> Any:
    """Settings from the options of :func:`settings_options` and :func:`data_options`."""
    from masker.config import build_settings

    layer = {
        "data": data_values(options),
        "model": {key: options.pop(key) for key in ("head", "backbone", "max_length")},
        "keywords": {"source": options.pop("keywords"), "attention_model": options.pop("attention_model")},
        "training": {key: options.pop(key) for key in ("method", "epochs", "batch_size", "learning_rate", "seed")},
    }
    preset, config, overrides = (options.pop(key) for key in ("preset", "config", "overrides"))
    return build_settings(layer, sections, preset=preset, config_file=config, overrides=overrides)
