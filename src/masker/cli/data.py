"""``masker data``: the corpora that can be read by name."""

from __future__ import annotations

import click


@click.group(name="data")
def data() -> None:
    """List and fetch the corpora that can be read by name."""


@data.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def list_command(as_json: bool) -> None:
    """List the corpora, their splits and where each would be read from."""
    from masker.data import list_corpora

    corpora = list_corpora()
    if as_json:
        import dataclasses
        import json

        click.echo(json.dumps([dataclasses.asdict(info) for info in corpora], indent=2))
        return

    from rich.console import Console
    from rich.table import Table

    table = Table("name", "splits", "rows", "from")
    for info in corpora:
        rows = ", ".join(f"{info.rows[split]:,}" for split in info.splits) if info.rows else "-"
        table.add_row(info.name, ", ".join(info.splits), rows, info.location)
    Console().print(table)


@data.command(name="fetch")
@click.argument("name")
def fetch_command(name: str) -> None:
    """Download the corpus NAME unless it is here already, and print its files, one a line."""
    from masker.data import fetch_corpus, find_corpus

    for split in find_corpus(name).splits:
        click.echo(fetch_corpus(name, split))
