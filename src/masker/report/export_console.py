"""The result of an export, on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from masker.report.console import console, figure_table

if TYPE_CHECKING:
    from masker.export import ExportReport

#: Headings of the figures of a comparison; figures that a model does not have are skipped.
_COLUMNS = {
    "label_agreement": "same label", "is_ood_agreement": "same is_ood", "max_confidence_difference": "max Δ confidence",
    "max_difference": "max Δ", "accuracy": "accuracy", "micro_f1": "micro F1", "pearson": "pearson", "mse": "mse",
}  # fmt: skip


def print_export(report: ExportReport) -> None:
    """Print a table of the files and, if texts were compared, one of the backends side by side."""
    out = console()
    table = figure_table(["backend"], ["MB", "max Δ logit", "max Δ feature"], "exported")
    for backend, file in report.files.items():
        differences = f"{file.max_logit_difference:.1e}", f"{file.max_feature_difference:.1e}"
        table.add_row(backend, f"{file.bytes / 1e6:.1f}", *differences)
    out.print(table)
    if report.agreement is not None:
        out.print(_agreement_table(report.agreement))
    out.print(f"model: {report.folder}", soft_wrap=True, markup=False)
    command = f"masker predict {report.folder} - --backend {list(report.files)[-1]}"
    out.print(f"try:   echo 'some text' | {command}", soft_wrap=True, markup=False)


def _agreement_table(agreement: dict[str, Any]) -> Table:
    backends: dict[str, dict[str, Any]] = agreement["backends"]
    columns = [name for name in _COLUMNS if any(name in figures for figures in backends.values())]
    sets = list(next(iter(backends.values())).get("auroc", {}))
    counts = ", ".join(f"{name} {count}" for name, count in agreement["documents"].items())
    headings = [*(_COLUMNS[name] for name in columns), *(f"AUROC {escape(name)}" for name in sets)]
    table = figure_table(["backend"], headings, escape(f"compared with PyTorch (documents: {counts})"))
    for backend, figures in backends.items():
        cells = [f"{figures[name]:.4f}" if name in figures else "" for name in columns]
        table.add_row(backend, *cells, *(f"{figures['auroc'][name]:.4f}" for name in sets))
    return table
