"""``masker export``."""

from __future__ import annotations

import json
from typing import Any

import click

from masker.cli.options import data_options, data_values


@click.command()
@click.argument("model")
@click.option("--format", "form", type=click.Choice(["onnx"]), default="onnx", show_default=True)
@click.option("--int8", is_flag=True, help="Also write a graph with 8-bit weights, the fastest on a CPU.")
@click.option("--output", type=click.Path(), metavar="FOLDER", help="A new folder without PyTorch's weights.")
@click.option("--check", metavar="FILE", help="Labelled texts on which the export is compared with PyTorch.")
@click.option("--ood", multiple=True, metavar="FILE", help="Out-of-distribution texts to compare on; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@data_options
def export(
    model: str,
    form: str,
    int8: bool,
    output: str | None,
    check: str | None,
    ood: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Export the model in the folder MODEL to ONNX, for 'predict' and 'evaluate' with --backend onnx or onnx-int8.

    The graphs go to MODEL/onnx or, with --output, to a folder that needs no PyTorch weights. An export whose logits
    are not PyTorch's is refused.
    """
    from masker.classifier import MaskerClassifier
    from masker.commands.train import evaluation_documents
    from masker.config import build_settings
    from masker.errors import ConfigError
    from masker.export import CheckData, export_onnx
    from masker.progress import progress_bar
    from masker.report.export_console import print_export

    if ood and check is None:
        raise ConfigError("--ood is measured against in-distribution texts; give labelled ones with --check FILE")
    reading = data_values(options)
    if check is None and any(value is not None for value in reading.values()):
        raise ConfigError("options about columns and rows are for the texts of --check FILE; add it, or leave them out")
    settings = build_settings({"data": reading})
    data = None
    if check is not None:
        classifier = MaskerClassifier.load(model, "torch")
        data = CheckData(*evaluation_documents(classifier, check, list(ood), settings.data))
    if data is None:
        report = export_onnx(model, int8=int8, output=output)
    else:
        with progress_bar(len(data) * (3 if int8 else 2), "compare", "doc") as bar:
            report = export_onnx(model, int8=int8, output=output, check=data, advance=bar.update)
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=1))
    else:
        print_export(report)
    if data is None:
        click.echo(
            "masker: agreement with PyTorch on real texts was not measured; "
            f"do so with 'masker export {model} --check TEST --ood OTHER'",
            err=True,
        )
