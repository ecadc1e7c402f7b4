"""``masker data``: the corpora that can be read by name."""

from __future__ import annotations

import click


@click.group(name="data")
def data() -> None:
    """List and fetch the corpora that can be read by name."""


@data.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with a description of each corpus.")
def list_command(as_json: bool) -> None:
    """List the corpora: splits, source, terms of use."""
    from masker.corpora import list_corpora

    corpora = list_corpora()
    if as_json:
        import dataclasses
        import json

        click.echo(json.dumps([dataclasses.asdict(info) for info in corpora], indent=2))
        return

    from rich.table import Table

    from masker.report.console import console

    table = Table("name", "splits")
    table.add_column("from", overflow="fold")
    table.add_column("terms")
    for info in corpora:
        rows = info.rows or {}
        splits = ", ".join(f"{split} {rows[split]:,}" if split in rows else split for split in info.splits)
        table.add_row(info.name, splits, info.location, info.terms)
    console(200).print(table)


@data.command(name="fetch")
@click.argument("name")
@click.option("--renew", is_flag=True, help="Download again even if the cache has it, for example a damaged copy.")
@click.option(
    "--from",
    "--file",
    "path",
    type=click.Path(),
    metavar="PATH",
    help="Build it from what its authors publish: 20news-bydate.tar.gz for 20newsgroups, 50EleReviews.json for "
    "amazon50, Reviews.csv for finefood, a checkout for amazon24, grocery, hwu64, snips and atis (docs/data.md).",
)
def fetch_command(name: str, renew: bool, path: str | None) -> None:
    """Fetch corpus NAME and print its files.

    It is downloaded into the cache unless it is there already or in the MASKER_DATA folder.
    """
    from pathlib import Path

    from masker.corpora import fetch_corpus, find_corpus, import_corpus

    if path is not None:
        import_corpus(find_corpus(name).name, Path(path).expanduser())
    for number, split in enumerate(find_corpus(name).splits):
        click.echo(fetch_corpus(name, split, renew=renew and path is None and number == 0))
