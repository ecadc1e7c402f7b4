"""``masker discover``."""

from __future__ import annotations

import json
from typing import Any

import click

from masker.cli import options as shared


@click.command(name="discover", cls=shared.SectionedCommand, short_help="Group the texts that a model rejects.")
@click.argument("model")
@click.argument("data")
@click.option("--max-groups", type=click.IntRange(min=1), metavar="N", help="At most N groups.  [default: 100]")
@click.option("--all", "everything", is_flag=True, help="Group all texts, not only those that the model rejects.")
@click.option(
    "--sample",
    type=click.IntRange(min=10),
    metavar="N",
    help="Find the groups among N of the texts; the rest go to the nearest one.  [default: 5000]",
)
@click.option(
    "--examples", type=click.IntRange(min=0), metavar="N", help="Texts shown from middle and edge.  [default: 3]"
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Random seed.  [default: 0]")
@click.option(
    "--output",
    type=click.Path(),
    metavar="FOLDER",
    help="Write groups.json, texts.csv with a label for each group, and a page, groups.html.",
)
@click.option("--overwrite", is_flag=True, help="Replace a table that is there, with the labels in it.")
@shared.json_option
@shared.false_alarm_option
@shared.backend_option
@shared.device_option
@shared.data_options
def discover_command(
    model: str, data: str, everything: bool, output: str | None, as_json: bool, **options: Any
) -> None:
    """Group the texts of DATA that the model in the folder MODEL rejects: candidates for new classes.

    The number of groups is found, and texts may belong to none. Each group has a name made of its words, examples, and
    the nearest known class: is it new, or a part of that class that the model misses?

    \b
    masker discover model today.csv
    masker discover model today.csv --output groups        then name the groups,
    masker extend model groups/texts.csv --output model2   and add them
    """  # noqa: D301
    from masker.commands.discover import DiscoverOptions, discover
    from masker.discovery import DiscoverySettings
    from masker.report.groups_console import print_groups
    from masker.report.groups_page import write_groups_page
    from masker.report.output_folder import check_output_folder

    data_settings = shared.read_data_settings(options)
    how = {key: options.pop(key) for key in ("max_groups", "sample", "examples", "seed")}
    settings = DiscoverySettings(
        only_rejected=not everything, **{key: value for key, value in how.items() if value is not None}
    )
    folder = None if output is None else check_output_folder(output)
    found = discover(model, data, data_settings, DiscoverOptions(settings, folder, **options))
    if folder is not None:
        write_groups_page(found, folder)
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=1))
    else:
        print_groups(found, folder)
