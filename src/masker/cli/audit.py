"""``masker audit``."""

from __future__ import annotations

import json
from typing import Any

import click

from masker.cli.options import data_options, data_values


@click.command()
@click.argument("model", metavar="MODEL|HUB_ID|FOLDER")
@click.argument("data")
@click.option("--against", metavar="MODEL", help="A second model; prints the paired difference of the two.")
@click.option("--other", metavar="CORPUS", help="Another corpus in which the keywords are counted.")
@click.option(
    "--keywords",
    metavar="SCHEME|FILE|MODEL",
    help="occlusion, attention, frequency, a file of words, or a model trained with keywords.  [default: occlusion]",
)
@click.option("--per-class", type=click.IntRange(min=1), metavar="N", help="Keywords of a class.  [default: 10]")
@click.option("--labels", metavar="NAME,NAME,...", help="Names of the model's outputs, in their order.")
@click.option(
    "--documents", type=click.IntRange(min=2), metavar="N", help="Random documents to audit on.  [default: 1000]"
)
@click.option(
    "--masking",
    type=click.Choice(["drop", "mask"]),
    help="Leave masked words out, or replace them by the mask token.  [default: drop]",
)
@click.option("--max-length", type=click.IntRange(min=8), metavar="N", help="Tokens of a document that are read.")
@click.option("--seed", type=click.IntRange(min=0, max=2**32 - 1), metavar="N", help="[default: 0]")
@click.option("--output", type=click.Path(), default="runs/audit", show_default=True, metavar="FOLDER")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@data_options
def audit(
    model: str,
    data: str,
    against: str | None,
    other: str | None,
    labels: str | None,
    max_length: int | None,
    output: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure how much any sequence classifier of transformers leans on keywords.

    Half of the labelled documents DATA give the keywords, the other half is measured. JSON and a page for people are
    written to the output folder; the page shows passages of DATA.
    """
    from masker.audit import run_audit
    from masker.config import AuditSettings, build_settings
    from masker.report.audit_console import check_folder, print_audit, write_audit

    data_settings = build_settings({"data": data_values(options)}).data
    settings = AuditSettings(**{key: value for key, value in options.items() if value is not None})
    folder = check_folder(output)
    found = run_audit(
        model,
        data,
        settings,
        data_settings,
        against=against,
        other=other,
        labels=None if labels is None else [name.strip() for name in labels.split(",")],
        max_length=max_length,
    )
    write_audit(found, folder)
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=1))
    else:
        print_audit(found, folder)
