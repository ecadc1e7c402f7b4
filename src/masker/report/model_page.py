"""The page of a report: one self-contained HTML file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from masker.analysis.answers import mix_ups
from masker.analysis.report_data import ClassFigures, KnownDocuments, Report
from masker.config import Settings
from masker.report.figures.class_bars import MOST_CLASSES, weakest_first
from masker.report.figures.gallery import SECTIONS
from masker.report.model_card import OTHER_FIGURES
from masker.report.plain_text import plain_text
from masker.report.theme import style_variables

_TEMPLATES = Path(__file__).parent / "templates"
#: Mix-ups in the table, which is there if the matrix has more classes than one sees at a glance.
MOST_MIX_UPS = 10
_MANY_CLASSES = 12


@dataclass(frozen=True)
class ShownFigure:
    """A figure as it stands in the page."""

    name: str
    title: str
    caption: str
    svg: str
    shape: str  # CSS class: wide, tall, small or none


@dataclass(frozen=True)
class KeyFigure:
    """A number at the top of the page."""

    title: str
    value: str
    interval: str


def model_page(report: Report, figures: dict[str, list[ShownFigure]]) -> str:
    """The page as HTML text."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["plain"] = plain_text
    environment.filters["prose"] = lambda text: plain_text(text).replace(" %", "\u00a0%")
    script = (_TEMPLATES / "hover.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    known = report.known
    return environment.get_template("report.html").render(
        report=report,
        sections={section: figures.get(section, []) for section in SECTIONS},
        key_figures=key_figures(report),
        classes=_all_classes(known),
        mix_ups=[] if known is None else frequent_mix_ups(known),
        changed=changed_settings(report.settings),
        settings=_flattened(report.settings),
        svg=Markup,
        script=Markup(script),
        script_digest=digest,
        style=Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),
        light=Markup(style_variables(dark=False)),
        dark=Markup(style_variables(dark=True)),
    )


def key_figures(report: Report) -> list[KeyFigure]:
    """What to look at first."""
    evaluation = report.evaluation
    if evaluation is None:
        return []
    if "regression" in evaluation:
        return [_plain_figure(name, figure) for name, figure in evaluation["regression"].items()]
    found = [] if report.known is None else [_percent_figure("right class", report.known.right)]
    for name, title in OTHER_FIGURES.items():
        figure = evaluation["classification"][name]
        # Where every answer is right, no resample differs; that is no narrow interval.
        found += [_percent_figure(title, figure)] if figure["low"] < figure["high"] else []
    if report.known is not None and not report.known.held_out:
        found.append(_percent_figure("false alarms", evaluation["false_alarms"]["realised"]))
    for name, figures in evaluation["ood"].items():
        found.append(_plain_figure(f"AUROC, {name}", figures["auroc"]))
        found.append(
            KeyFigure(f"rejected of {name}", f"{100 * figures['rejected']:.1f} %", f"{figures['documents']} texts")
        )
    return found


def _percent_figure(title: str, figure: dict[str, float]) -> KeyFigure:
    value, low, high = (100 * figure[key] for key in ("value", "low", "high"))
    return KeyFigure(title, f"{value:.1f} %", f"{low:.1f} to {high:.1f} %")


def _plain_figure(title: str, figure: dict[str, float]) -> KeyFigure:
    return KeyFigure(title, f"{figure['value']:.3f}", f"{figure['low']:.3f} to {figure['high']:.3f}")


def _all_classes(known: KnownDocuments | None) -> list[ClassFigures]:
    """For the table of classes, which is there if the figure leaves some out."""
    return weakest_first(known.classes) if known is not None and len(known.classes) > MOST_CLASSES else []


def frequent_mix_ups(known: KnownDocuments) -> list[dict[str, Any]]:
    """The most frequent wrong answers; none where the matrix shows them at a glance."""
    if len(known.classes) <= _MANY_CLASSES:
        return []
    sizes = {row.name: row.documents for row in known.classes}
    return [{**one, "documents": sizes.get(one["true"], 0)} for one in mix_ups(known.confusion)[:MOST_MIX_UPS]]


def changed_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings that are not the default."""
    defaults = _flattened(Settings().model_dump())
    return {name: value for name, value in _flattened(settings).items() if defaults.get(name) != value}


def _flattened(settings: dict[str, Any]) -> dict[str, Any]:
    return {f"{section}.{key}": value for section, values in settings.items() for key, value in values.items()}
