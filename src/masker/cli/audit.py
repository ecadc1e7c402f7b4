"""``masker audit``."""

from __future__ import annotations

import json
from typing import Any

import click

from masker.cli.options import SECTIONS, SectionedCommand, data_options, device_option, json_option, read_data_settings


class _AuditCommand(SectionedCommand):
    """Its keywords, seed and length are not those of a training run."""

    sections = {  # noqa: RUF012 - read only
        "Options": (),
        "Keywords": ("keywords", "per_class", "masking", "other"),
        "Data": ("documents", *SECTIONS["Data"]),
        "Advanced": ("device", "max_length", "seed", "help"),
    }


@click.command("audit", cls=_AuditCommand, short_help="Measure how much a classifier relies on keywords.")
@click.argument("model", metavar="MODEL")
@click.argument("data")
@click.option("--against", metavar="MODEL", help="Compare with a second model, paired over documents.")
@click.option(
    "--output",
    type=click.Path(),
    default="runs/audit",
    show_default=True,
    metavar="FOLDER",
    help="Folder for audit.json and audit.html.",
)
@json_option
@click.option("--labels", metavar="NAME,NAME,...", help="Names of the model's outputs, in order.")
@click.option(
    "--documents", type=click.IntRange(min=2), metavar="N", help="Sample N documents to audit on.  [default: 1000]"
)
@click.option(
    "--keywords",
    metavar="SCHEME|FILE|MODEL",
    help="occlusion, attention, frequency, a file of words, or a model trained with keywords.  [default: occlusion]",
)
@click.option("--per-class", type=click.IntRange(min=1), metavar="N", help="Keywords per class.  [default: 10]")
@click.option(
    "--masking",
    type=click.Choice(["drop", "mask"]),
    help="Leave masked words out, or replace them with the mask token.  [default: drop]",
)
@click.option("--other", metavar="CORPUS", help="Also count the keywords in this corpus.")
@click.option(
    "--max-length",
    type=click.IntRange(min=8),
    metavar="N",
    help="Read N tokens of each document.  [default: as in training, or 256]",
)
@click.option("--seed", type=click.IntRange(min=0, max=2**32 - 1), metavar="N", help="Random seed.  [default: 0]")
@device_option
@data_options
def audit_command(output: str, as_json: bool, labels: str | None, **options: Any) -> None:
    """Measure how much a classifier relies on keywords.

    MODEL is a masker model folder, a transformers folder or a hub id; DATA has labelled documents. Half of them yield
    the keywords, the other half are measured. Writes audit.json and audit.html to the output folder; the page quotes
    passages of DATA.

    \b
    masker audit model test.csv
    masker audit model test.csv --against other-model
    masker audit hub-user/hub-model reviews.csv --labels neg,pos
    """  # noqa: D301
    from masker.commands.audit import AuditSources, audit_sources
    from masker.config import AuditSettings
    from masker.report.audit_console import print_audit, write_audit
    from masker.report.output_folder import check_output_folder

    data_settings = read_data_settings(options)
    given = {key: value for key, value in options.items() if value is not None}
    names = ("model", "data", "against", "other", "max_length", "device")
    sources = AuditSources(
        **{key: given.pop(key) for key in names if key in given},
        labels=None if labels is None else [name.strip() for name in labels.split(",")],
    )
    settings = AuditSettings(**given)
    folder = check_output_folder(output)
    found = audit_sources(sources, settings, data_settings)
    write_audit(found, folder)
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=1))
    else:
        print_audit(found, folder)
