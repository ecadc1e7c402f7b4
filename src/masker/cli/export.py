"""``masker export``."""

from __future__ import annotations

import json
from typing import Any

import click

from masker.cli.options import SectionedCommand, data_options, data_values, json_option
from masker.extras import require


@click.command("export", cls=SectionedCommand, short_help="Export a model to ONNX.")
@click.argument("model")
@click.option("--format", "form", type=click.Choice(["onnx"]), default="onnx", show_default=True, help="Of the graphs.")
@click.option("--int8", is_flag=True, help="Also write a graph with 8-bit weights, the fastest on a CPU.")
@click.option("--output", type=click.Path(), metavar="FOLDER", help="Write a new folder without PyTorch weights.")
@click.option("--check", metavar="FILE", help="Labelled texts to compare the export with PyTorch on.")
@click.option("--ood", multiple=True, metavar="FILE", help="Out-of-distribution texts to compare on; repeatable.")
@json_option
@data_options
def export_command(model: str, form: str, check: str | None, as_json: bool, **options: Any) -> None:
    """Export the model in folder MODEL to ONNX, for --backend onnx or onnx-int8.

    The graphs go to MODEL/onnx or, with --output, to a folder that needs no PyTorch weights. An export whose logits
    differ from PyTorch's by more than 1e-4 is refused.
    """
    require("exporting", "onnx", "torch", "transformers")
    from masker.commands.export import export_model
    from masker.config import build_settings
    from masker.report.export_console import print_export

    reading = data_values(options)
    given = any(value is not None for value in reading.values())
    data_settings = build_settings({"data": reading}).data if given else None
    report = export_model(model, check=check, data_settings=data_settings, **options)
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=1))
    else:
        print_export(report)
    if check is None:
        command = f"masker export {model} --check TEST --ood OTHER"
        click.echo(
            f"masker: agreement with PyTorch on real texts was not measured; measure it with '{command}'", err=True
        )
