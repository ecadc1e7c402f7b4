"""``masker reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from masker.cli.options import SectionedCommand, device_option


def parse_seeds(context: click.Context, parameter: click.Parameter, value: str | None) -> list[int]:
    """The numbers in ``0``, ``0,2,5`` or ``0..4``."""
    seeds: list[int] = []
    for part in value.split(",") if value is not None else []:
        first, dots, last = (text.strip() for text in part.partition(".."))
        if not first.isdecimal() or (dots and not last.isdecimal()) or (dots and int(last) < int(first)):
            raise click.BadParameter(f"'{value}' is not a list of seeds; write 0 or 0,2,5 or 0..4", context, parameter)
        seeds += range(int(first), int(last if dots else first) + 1)
    return seeds


@click.command(name="reproduce", cls=SectionedCommand, short_help="Run a table or figure of the paper.")
@click.argument("names", nargs=-1, metavar="[NAME|FILE.yaml]...")
@click.option("--list", "list_only", is_flag=True, help="List the recipes: which have been run, and the time of each.")
@click.option("--dry-run", is_flag=True, help="Show what would run, how long it takes, and which data are missing.")
@click.option("--finished", is_flag=True, help="Run nothing; write the tables of the runs that are finished.")
@click.option(
    "--scale",
    type=click.Choice(["small", "medium", "paper"]),
    default="small",
    show_default=True,
    help="small: two CPU cores; medium: the same for a night, where a recipe has it; paper: the paper's encoders on a "
    "GPU.",
)
@click.option(
    "--output", type=click.Path(), default="runs/reproduce", show_default=True, metavar="FOLDER", help="Results."
)
@click.option(
    "--stages",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.jsonl.gz",
    help="Archive of finished stages, read before and written after: a long run goes on on another machine.",
)
@click.option("--only", multiple=True, metavar="KEY=VALUE", help="Only these runs: train=, system= or backbone=.")
@click.option("--seeds", callback=parse_seeds, metavar="N|N,M|N..M", help="Seeds instead of the scale's.")
@click.option(
    "--backbone", "backbones", multiple=True, metavar="NAME", help="Encoder instead of the scale's, such as mpnet."
)
@click.option("--set", "overrides", multiple=True, metavar="SECTION.KEY=VALUE", help="A setting of every run.")
@click.option("--grid", is_flag=True, help="Choose learning rate and batch size on training data, as the paper does.")
@click.option("--stand-ins", is_flag=True, help="Replace corpora that cannot be downloaded (amazon50) by similar ones.")
@click.option("--engine", default="local", show_default=True, metavar="NAME", help="Runs the stages: local or ray.")
@click.option("--keep-models", is_flag=True, help="Keep every model instead of removing it after its last use.")
@device_option
def reproduce_command(
    names: tuple[str, ...], list_only: bool, dry_run: bool, scale: str, output: str, **options: Any
) -> None:
    """Run tables and figures of the paper by name, and print our figures beside the paper's.

    Results go to FOLDER/NAME/table.md and summary.json. Repeat the command to resume after an interruption. Recipes
    named together share the work that they have in common.
    """
    from masker.experiments.engines import Execution
    from masker.experiments.plan import RunOptions, plan_recipes
    from masker.experiments.stage_archive import archived_stages
    from masker.report.plan_text import plan_text, recipes_table

    if list_only:
        click.echo(recipes_table(Path(output).expanduser()))
        return
    if not names:
        raise click.UsageError("name a recipe, or see 'masker reproduce --list'")
    execution = Execution(*(options.pop(name) for name in ("engine", "device", "keep_models", "finished", "stages")))
    runs = RunOptions(**options)
    if dry_run:
        plans, graph = plan_recipes(names, scale, runs, fetch=False)
        archived = archived_stages(execution.stages) if execution.stages is not None else ()
        click.echo(plan_text(plans, graph, Path(output).expanduser(), archived))
        return
    from masker.experiments.reproduce import reproduce
    from masker.report.reproduction import write_reports

    click.echo(write_reports(reproduce(names, output, runs, execution, scale=scale)))
