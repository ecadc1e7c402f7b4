"""``masker data``: the corpora that can be read by name."""

from __future__ import annotations

import click


@click.group(name="data")
def data() -> None:
    """List and fetch the corpora that can be read by name."""


@data.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def list_command(as_json: bool) -> None:
    """List the corpora, their splits, where each would be read from, and on which terms it may be used.

    What each one is, is in the JSON output.
    """
    from masker.documents import list_corpora

    corpora = list_corpora()
    if as_json:
        import dataclasses
        import json

        click.echo(json.dumps([dataclasses.asdict(info) for info in corpora], indent=2))
        return

    from rich.console import Console
    from rich.table import Table

    table = Table("name", "splits")
    table.add_column("from", overflow="fold")
    table.add_column("terms")
    for info in corpora:
        rows = info.rows or {}
        splits = ", ".join(f"{split} {rows[split]:,}" if split in rows else split for split in info.splits)
        table.add_row(info.name, splits, info.location, info.terms)
    console = Console(highlight=False)
    # A file or a pipe has no width to fold lines for.
    (console if console.is_terminal else Console(highlight=False, width=200)).print(table)


@data.command(name="fetch")
@click.argument("name")
@click.option("--renew", is_flag=True, help="Download it even if the cache has it, for example because it is damaged.")
@click.option(
    "--file",
    "path",
    type=click.Path(),
    metavar="FILE",
    help="Make it from the file its authors publish: 50EleReviews.json for amazon50, Reviews.csv for finefood.",
)
def fetch_command(name: str, renew: bool, path: str | None) -> None:
    """Download the corpus NAME into the cache unless it is here already, and print its files, one a line."""
    from pathlib import Path

    from masker.documents import fetch_corpus, find_corpus, import_corpus

    if path is not None:
        import_corpus(find_corpus(name).name, Path(path).expanduser())
    for number, split in enumerate(find_corpus(name).splits):
        click.echo(fetch_corpus(name, split, renew=renew and path is None and number == 0))
