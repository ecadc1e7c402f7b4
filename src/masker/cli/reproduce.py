"""``masker reproduce``."""

from __future__ import annotations

from typing import Any

import click


def parse_seeds(context: click.Context, parameter: click.Parameter, value: str | None) -> list[int]:
    """The numbers that ``0``, ``0,2,5`` or ``0..4`` stands for."""
    seeds: list[int] = []
    for part in value.split(",") if value is not None else []:
        first, dots, last = (text.strip() for text in part.partition(".."))
        if not first.isdecimal() or (dots and not last.isdecimal()) or (dots and int(last) < int(first)):
            raise click.BadParameter(f"'{value}' is no seed; write 0 or 0,2,5 or 0..4", context, parameter)
        seeds += range(int(first), int(last if dots else first) + 1)
    return seeds


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME|FILE.yaml]...")
@click.option("--scale", type=click.Choice(["small", "paper"]), default="small", show_default=True)
@click.option("--backbone", "backbones", multiple=True, metavar="NAME", help="Encoder in place of the scale's.")
@click.option("--seeds", callback=parse_seeds, metavar="N|N,M|N..M", help="Seeds in place of the scale's.")
@click.option("--only", multiple=True, metavar="KEY=VALUE", help="Only these runs: train=, system= or backbone=.")
@click.option("--set", "overrides", multiple=True, metavar="SECTION.KEY=VALUE", help="A setting of every run.")
@click.option("--output", type=click.Path(), default="runs/reproduce", show_default=True, metavar="FOLDER")
@click.option("--engine", default="local", show_default=True, metavar="NAME", help="What runs the stages.")
@click.option("--keep-models", is_flag=True, help="Keep every model instead of removing it after its last use.")
@click.option("--list", "list_only", is_flag=True, help="List the recipes.")
@click.option("--dry-run", is_flag=True, help="Show what would run and about how long it takes.")
def reproduce(
    names: tuple[str, ...],
    scale: str,
    backbones: tuple[str, ...],
    seeds: list[int],
    only: tuple[str, ...],
    overrides: tuple[str, ...],
    output: str,
    engine: str,
    keep_models: bool,
    list_only: bool,
    dry_run: bool,
) -> None:
    """Run the tables and figures of the paper by name; finished parts are kept, and the same command goes on.

    Recipes that are named together share what they have in common. Our figures stand beside the paper's in
    FOLDER/NAME/table.md and summary.json.
    """
    if list_only:
        from masker.report.plan_text import recipes_table

        click.echo(recipes_table())
        return
    if not names:
        raise click.UsageError("name a recipe, or see 'masker reproduce --list'")
    options: dict[str, Any] = {"backbones": backbones, "seeds": seeds, "only": only, "overrides": overrides}
    if dry_run:
        from pathlib import Path

        from masker.experiments.reproduce import plan_recipes
        from masker.report.plan_text import plan_text

        plans, graph = plan_recipes(names, scale, **options, fetch=False)
        click.echo(plan_text(plans, graph, Path(output).expanduser()))
        return
    from masker.experiments.reproduce import reproduce as run
    from masker.report.reproduction import write_reports

    outcomes = run(names, output, scale=scale, **options, engine=engine, keep_models=keep_models)
    click.echo(write_reports(outcomes))
