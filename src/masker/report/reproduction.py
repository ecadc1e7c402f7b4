"""A recipe's results as Markdown: our figures beside the paper's, and what they show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from masker.experiments.summary import CELL_KEYS
from masker.files import write_text
from masker.presets import STILL_DIFFERENT
from masker.report.analysis_tables import analysis_lines
from masker.report.halves_table import halves_lines
from masker.report.markdown import markdown_table
from masker.report.recipe_figures import draw_figure
from masker.report.verdict import verdict

if TYPE_CHECKING:
    from masker.experiments.reproduce import Outcome

Cell = dict[str, Any]

HEADINGS = {
    "train": "trained on",
    "test": "tested on",
    "backbone": "encoder",
    "system": "system",
    "metric": "figure",
    "auroc": "AUROC ↑",
    "eer": "EER ↓",
    "detection_accuracy": "detection accuracy ↑",
    "tnr_at_tpr80": "TNR at TPR 80 % ↑",
    "aupr": "AUPR ↑",
    "fpr_at_tpr95": "FPR at TPR 95 % ↓",
    "rejected": "rejected",
    "open_accuracy": "open accuracy ↑",
    "open_f1": "open macro F1 ↑",
    "f1_known": "F1 known ↑",
    "f1_unknown": "F1 unknown ↑",
    "accuracy": "accuracy ↑",
    "macro_f1": "macro F1 ↑",
    "ece": "calibration error ↓",
    "gap": "gap to the training domain ↑",
    "pearson": "Pearson ↑",
    "spearman": "Spearman ↑",
    "false_alarms": "rejected, known classes",
}


def write_report(outcome: Outcome) -> str:
    """Write ``table.md`` and, if the recipe reproduces a figure, its picture; return the Markdown."""
    text = "\n".join([f"# {outcome.summary['title']}", "", *summary_lines(outcome.summary)]) + "\n"
    write_text(outcome.folder / "table.md", text)
    if "analysis" in outcome.summary:
        draw_figure(outcome)
    return text


def write_reports(outcomes: Sequence[Outcome]) -> str:
    """Write the reports of several recipes to their folders, and join them for the console."""
    texts = [f"{write_report(outcome)}\nwritten to {outcome.folder}/" for outcome in outcomes]
    return "\n\n".join(texts)


def summary_lines(summary: dict[str, Any]) -> list[str]:
    """The body of a report: setting, table or analysis, comparisons, notes."""
    # Said of a published summary when the recipe has changed since, until it is run again.
    earlier = [f"**Run before the recipe was as it is now:** {summary['earlier']}."] if "earlier" in summary else []
    lines = [*earlier, *_setting_lines(summary), *origin_lines(summary), ""]
    if "analysis" in summary:
        return [*lines, *analysis_lines(summary)]
    if "halves" in summary:
        return [*lines, *halves_lines(summary, HEADINGS)]
    compared = any("paper" in cell for cell in summary["cells"])
    brackets = "; the paper's figure in brackets" if compared else ""
    lines += [f"Mean ± standard deviation over seeds, in %{brackets}.", ""]
    lines += [*table_lines(summary), ""]
    comparisons = [f"- {comparison_sentence(row, summary['systems'])}" for row in summary["comparisons"]]
    lines += [*comparisons, ""] if comparisons else []
    notes = dict.fromkeys(_note_of(cell) for cell in summary["cells"] if "note" in cell.get("paper", {}))
    return [*lines, *(f"- {note}" for note in notes)] if notes else lines[:-1]


def table_lines(summary: dict[str, Any]) -> list[str]:
    """A Markdown table in the recipe's layout."""
    cells = summary["cells"]
    rows, columns = list(summary["table"]["rows"]), list(summary["table"]["columns"])
    # A key that distinguishes cells must not be lost because the layout does not name it.
    for key in CELL_KEYS:
        if (
            key not in (*rows, *columns)
            and _collide(cells, (*rows, *columns))
            and len({cell[key] for cell in cells}) > 1
        ):
            rows.append(key)
    grid: dict[tuple[str, ...], dict[tuple[str, ...], str]] = {}
    for cell in cells:
        if cell["backbone"] or "backbone" not in rows:
            grid.setdefault(_labels(cell, rows, summary), {})[_labels(cell, columns, summary)] = _shown(cell)
    for cell in cells:
        if not cell["backbone"] and "backbone" in rows:
            # A system without an encoder appears in the row of every encoder.
            wanted, place = _labels(cell, rows, summary), rows.index("backbone")
            others = [row for row in grid if _without(row, place) == _without(wanted, place)]
            for row in others or [wanted]:
                grid.setdefault(row, {})[_labels(cell, columns, summary)] = _shown(cell)
    headings = list(dict.fromkeys(_labels(cell, columns, summary) for cell in cells))
    header = [*(HEADINGS[key] for key in rows), *(", ".join(heading) for heading in headings)]
    body = [[*row, *(values.get(heading, "") for heading in headings)] for row, values in grid.items()]
    return markdown_table(header, body, left=len(rows))


def comparison_sentence(row: dict[str, Any], systems: dict[str, str]) -> str:
    """What a paired comparison shows, or why it cannot show anything."""
    system, baseline = (systems.get(row[key], row[key]) for key in ("system", "baseline"))
    metric = HEADINGS[row["metric"]].rstrip(" ↑↓")
    found = (
        f"**{system} against {baseline}, {metric}:** better in {row['wins']} of {row['cells']} cells, "
        f"{row['difference']:+.1f} points on average over {row['units']} "
        f"{'pair' if row['units'] == 1 else 'pairs'} of training runs"
    )
    return f"{found}; {verdict(row, better='a better system', worse='a worse system')}."


def origin_lines(summary: dict[str, Any]) -> list[str]:
    """A line that says so if the stages behind the figures were run with different commits or package versions."""
    origins = summary.get("origins", [])
    if len(origins) < 2:
        return []
    everywhere = set.intersection(*(set(origin["versions"].items()) for origin in origins))
    parts = []
    for origin in origins:
        differing = [" ".join(package) for package in origin["versions"].items() if package not in everywhere]
        stages = ", ".join(f"{count} {kind}" for kind, count in origin["stages"].items())
        parts.append(f"{', '.join([shown_commit(origin), *differing])} ({stages})")
    return [f"**Not all stages were run with the same code:** {'; '.join(parts)}."]


def shown_commit(origin: dict[str, Any]) -> str:
    """The commit of a provenance record, shortened."""
    commit = origin.get("commit")
    if commit is None:
        return f"installed masker {origin['versions'].get('masker')}"
    return f"commit {commit[:12]}{' with local changes' if ' with' in commit else ''}"


def _setting_lines(summary: dict[str, Any]) -> list[str]:
    setting = summary["setting"]
    seeds = f"seed{'s' if len(setting['seeds']) > 1 else ''} {', '.join(map(str, setting['seeds']))}"
    limits = [
        f"{setting[key]:,} {words}" for key, words in (("train_documents", "training documents"),
        ("test_documents", "documents per test set at most")) if setting[key] is not None
    ]  # fmt: skip
    length = setting["settings"].get("model", {}).get("max_length")
    limits += [f"{length} tokens of each"] if length else []
    limits += [f"{100 * setting['class_ratio']:.0f} % of the classes known"] if setting["class_ratio"] else []
    facts = [f"Scale `{summary['scale']}` ({setting['hardware']}): encoder {', '.join(setting['models'])}", *limits]
    lines = [f"{', '.join([*facts, seeds])}."]
    for name, stand_in in setting["stand_ins"].items():
        dropped = f" (without {', '.join(stand_in['without_labels'])})" if stand_in["without_labels"] else ""
        lines.append(f"`{stand_in['corpus']}`{dropped} stands in for `{name}`: {stand_in['reason']}.")
    changed = setting.get("overrides", [])  # older summaries do not tell
    lines += [f"**Not the recipe's settings:** {', '.join(f'`{one}`' for one in changed)}."] if changed else []
    return [*lines, *_data_lines(setting), *setting["notes"], *_preset_lines(setting)]


def _data_lines(setting: dict[str, Any]) -> list[str]:
    """Small test sets, how classes were drawn, and whether texts were raw; older summaries do not tell."""
    limit = setting["test_documents"]
    sizes = {test: most for test, (_, most) in setting.get("test_sizes", {}).items() if limit is None or most < limit}
    shown = ", ".join(f"{test} {size:,}" for test, size in sizes.items())
    lines = [f"Documents of {'the' if limit is None else 'smaller'} test sets: {shown}."] if sizes else []
    if setting.get("split_by_seed"):
        lines.append("Each seed draws its own known classes, so deviations include the choice of classes.")
    for corpus, raw in setting.get("raw", {}).items():
        form = "is the raw text, as in the paper" if raw else "was **not** the raw text that the paper uses"
        lines.append(f"`{corpus}` {form}.")
    return lines


def _preset_lines(setting: dict[str, Any]) -> list[str]:
    """In what training still differs from the paper, apart from what the scale and the recipe say."""
    preset = setting.get("preset")  # older summaries do not tell
    if preset is None:
        return []
    found = "rate and batch size were searched on a tenth of the training documents"
    differences = [found, *STILL_DIFFERENT[1:]] if setting.get("grid") else STILL_DIFFERENT
    return [f"Systems start from the preset `{preset}`, training as in the paper, except: {'; '.join(differences)}."]


def _shown(cell: Cell) -> str:
    ours = "–" if cell["mean"] is None else _spread(cell["mean"], cell["deviation"])
    paper = cell.get("paper")
    mark = "*" if paper and "note" in paper else ""
    return ours if paper is None else f"{ours} ({_spread(paper['mean'], paper.get('deviation'))}{mark})"


def _spread(mean: float, deviation: float | None) -> str:
    return f"{mean:.1f}" if deviation is None else f"{mean:.1f} ± {deviation:.1f}"


def _note_of(cell: Cell) -> str:
    where = ", ".join(str(cell[key]) for key in CELL_KEYS if cell[key])
    return f"\\* {where}: {cell['paper']['note']}"


def _labels(cell: Cell, keys: Sequence[str], summary: dict[str, Any]) -> tuple[str, ...]:
    names = {"system": summary["systems"], "metric": HEADINGS}
    return tuple(cell["model"] if key == "backbone" else names.get(key, {}).get(cell[key], cell[key]) for key in keys)


def _collide(cells: Sequence[Cell], keys: Sequence[str]) -> bool:
    places = [tuple(cell[key] for key in keys) for cell in cells]
    return len(set(places)) < len(places)


def _without(row: tuple[str, ...], place: int) -> tuple[str, ...]:
    return (*row[:place], *row[place + 1 :])
