"""``masker report``."""

from __future__ import annotations

import json
from typing import Any

import click

from masker.cli import options as shared


@click.command(name="report", cls=shared.SectionedCommand, short_help="One page with figures: how good a model is.")
@click.argument("model", metavar="MODEL|RUN")
@click.option("--test", metavar="FILE", help="Labelled texts of the model's classes.")
@click.option("--ood", multiple=True, metavar="FILE", help="Out-of-distribution texts; repeatable.")
@click.option("--train", metavar="FILE", help="The training texts, for keywords of both schemes and of each class.")
@click.option("--target", multiple=True, metavar="FILE", help="Labelled texts of another domain; repeatable.")
@click.option("--compare", metavar="MODEL", help="Show the words that another model attends to beside this one's.")
@click.option(
    "--output",
    type=click.Path(),
    metavar="FOLDER",
    help="Folder for the files.  [default: MODEL.report, or RUN/report]",
)
@click.option("--no-texts", is_flag=True, help="Quote no text of the given files.")
@click.option(
    "--resamples", type=click.IntRange(min=1), metavar="N", default=1000, show_default=True, help="Bootstrap resamples."
)
@shared.json_option
@shared.score_option
@shared.false_alarm_option
@shared.confidence_option
@shared.backend_option
@shared.device_option
@shared.data_options
def report_command(
    model: str, compare: str | None, output: str | None, as_json: bool, no_texts: bool, resamples: int, **options: Any
) -> None:
    """Write one HTML page about the model in the folder MODEL, and its figures as SVG and PNG.

    RUN is a folder with models in it, such as that of 'masker demo'. If no file is given, the page shows what the model
    kept of its held-out documents; otherwise it quotes texts of the files, unless told not to (--no-texts).

    \b
    masker report model
    masker report model --test test.csv --ood unrelated.csv
    masker report model --test test.csv --train train.csv --compare other-model
    """  # noqa: D301
    from masker.commands.report import (
        ReportOptions,
        ReportSources,
        find_model_folders,
        read_report_documents,
        report_on,
    )
    from masker.model import Model
    from masker.report.output_folder import check_output_folder
    from masker.report.report_console import print_report, refresh_card
    from masker.report.report_files import report_folder, require_packages, write_report_files

    require_packages()
    folder = check_output_folder(output or report_folder(model))
    settings = shared.read_data_settings(options)
    sources = ReportSources(options.pop("test"), options.pop("ood"), options.pop("train"), options.pop("target"))
    main, *others = find_model_folders(model)
    opened = Model.open(main, **options)  # backend, device, score and the promise are left
    others = others if compare is None else find_model_folders(compare)[:1]
    beside = {other.name: Model.open(other, device=options["device"]) for other in others}
    documents = read_report_documents(sources, settings, head=opened.head)
    made = report_on(opened, documents, ReportOptions(main.name, beside, resamples, not no_texts))
    files = write_report_files(made, folder)
    refresh_card(made, main)
    if as_json:
        click.echo(json.dumps(made.to_json(), ensure_ascii=False, indent=1))
    else:
        print_report(made, files)
