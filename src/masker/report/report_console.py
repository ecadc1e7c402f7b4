"""What ``masker report`` prints, and the reports that training and the demonstration leave."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from masker import distributed
from masker.commands.evaluate import EvaluationSources, read_evaluation
from masker.commands.report import ReportDocuments, ReportOptions, report_on
from masker.errors import MaskerError
from masker.model import Model
from masker.report.console import console
from masker.report.model_card import CARD, write_model_card
from masker.report.output_folder import check_output_folder
from masker.report.report_files import (
    FIGURES,
    ReportFiles,
    missing_packages,
    report_folder,
    require_packages,
    write_report_files,
)

if TYPE_CHECKING:
    from masker.analysis.report_data import Report
    from masker.commands.train import TrainingSummary
    from masker.config import DataSettings
    from masker.experiments.demo import DemoResult

_log = logging.getLogger("masker")


def print_report(report: Report, files: ReportFiles) -> None:
    """Print the conclusion, and where the files are."""
    out = console()
    out.print(" ".join(report.conclusion), markup=False)
    figures = f"{files.page.parent / FIGURES} ({len(files.figures)}, as SVG and PNG)"
    for title, place in (("page", files.page), ("figures", figures)):
        out.print(f"{title + ':':9}{place}", soft_wrap=True, markup=False)


def refresh_card(report: Report, model: Path) -> None:
    """Write the model card with the figures of a report; one that somebody else wrote stays."""
    try:
        if write_model_card(report, model) is None:
            _log.info("%s was not written by masker and stays as it is", model / CARD)
    except OSError as error:
        _log.warning("the model card %s cannot be written (%s)", model / CARD, error.strerror or error)


def report_training(summary: TrainingSummary, *, with_page: bool) -> None:
    """Leave a card in the folder of a trained model and, if wanted, a report beside it, which quotes no text."""
    page = with_page and _can_draw(summary.folder)
    # On several processes reading attention takes all of them, and the others are done.
    train = summary.data if page and distributed.world_size() == 1 else None
    try:
        made = report_on(summary.model, ReportDocuments(train=train), ReportOptions(summary.folder.name))
        refresh_card(made, summary.folder)
        if page:
            _name_page(write_report_files(made, report_folder(summary.folder)))
    except (MaskerError, OSError) as error:  # the model is there all the same
        _log.warning("no report on %s: %s", summary.folder, error)


def report_extension(folder: str) -> None:
    """Leave a card in the folder of an extended model."""
    try:
        name = Path(folder).name
        refresh_card(report_on(Model.open(folder), ReportDocuments(), ReportOptions(name)), Path(folder))
    except (MaskerError, OSError) as error:  # the model is there all the same
        _log.warning("no card of %s: %s", folder, error)


def report_demo(result: DemoResult) -> None:
    """Leave the report on the MASKER model of the demonstration in its folder."""
    if _can_draw(result.folder):
        data, model = result.data, result.models["masker"]
        documents = ReportDocuments(data.test, data.ood, data.train)
        options = ReportOptions("masker", {"vanilla": result.models["vanilla"]})
        _name_page(write_report_files(report_on(model, documents, options), report_folder(result.folder)))


def evaluate_with_report(
    model: Model, folder: str, sources: EvaluationSources, settings: DataSettings, resamples: int
) -> dict[str, Any]:
    """What ``masker evaluate`` gives, and the report on it beside the model."""
    require_packages()
    target = check_output_folder(report_folder(folder))
    test, ood = read_evaluation(sources, settings, head=model.head)
    made = report_on(model, ReportDocuments(test, ood), ReportOptions(Path(folder).resolve().name, resamples=resamples))
    _log.info("report: %s", write_report_files(made, target).page)  # stdout is the evaluation
    refresh_card(made, Path(folder))
    assert made.evaluation is not None
    return made.evaluation


def _can_draw(model: Path) -> bool:
    missing = missing_packages()
    if missing:
        _log.warning(
            "no report, because %s is not installed: pip install 'masker[report]', then masker report %s",
            " and ".join(missing),
            model,
        )
    return not missing


def _name_page(files: ReportFiles) -> None:
    console().print(f"report: {files.page}", soft_wrap=True, markup=False)
