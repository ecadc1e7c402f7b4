"""Documents in the plane, with their texts on hover, as in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from masker.analysis.report_data import DocumentMap, MapPoint, Report
from masker.report.figures.canvas import MARKERS, Picture, legend_above, new_canvas
from masker.report.plain_text import plain_text, short_label
from masker.report.theme import set_colour


def draw_document_maps(report: Report) -> list[Picture]:
    """One figure for each map."""
    return [_draw_map(shown) for shown in report.maps]


def _draw_map(shown: DocumentMap) -> Picture:
    canvas = new_canvas(4.3)
    axes = canvas.subplots()
    groups = {name: [point for point in shown.points if point.group == name] for name in shown.groups}
    name = "map-" + shown.title.replace(" ", "-")
    handles = dots_on(axes, {group: [(one.x, one.y) for one in points] for group, points in groups.items()}, name)
    tips = {f"{name}-{place}": [_tip(point) for point in points] for place, points in enumerate(groups.values())}
    legend_above(canvas, handles)
    caption = "Documents that the network sees as similar lie close together (t-SNE); other distances mean nothing."
    if shown.silhouette is not None:
        caption += (
            f" Silhouette of the groups before projection: {shown.silhouette:.2f} (near 1 they are separated, near 0 "
            "they overlap)."
        )
    return Picture(name, f"Map of documents: {shown.title}", caption, canvas, tips)


def _tip(point: MapPoint) -> str:
    parts = [point.group, *([point.label] if point.label not in (None, point.group) else [])]
    head = " · ".join(plain_text(part) for part in parts if part)
    return head if point.text is None else f"{head}: {plain_text(point.text)}"


def dots_on(axes: Any, groups: Mapping[str, Sequence[Sequence[float]]], gid: str) -> list[Any]:
    """Scatter groups of (x, y), each with a colour and marker of its own; returns the legend's handles."""
    handles = []
    for place, (name, points) in enumerate(groups.items()):
        handles.append(
            axes.scatter(
                [point[0] for point in points], [point[1] for point in points], s=13, linewidths=0, alpha=0.75,
                color=set_colour(place), marker=MARKERS[place % len(MARKERS)], gid=f"{gid}-{place}",
                label=f"{short_label(name)} ({len(points)})",
            )
        )  # fmt: skip
    axes.set(xticks=[], yticks=[])
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(True)
    return handles
