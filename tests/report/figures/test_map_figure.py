"""Maps of documents."""

from __future__ import annotations

from dataclasses import replace

from masker.analysis.report_data import DocumentMap, MapPoint
from masker.report.figures.map_figure import draw_document_maps
from tests.report.figures.looks import drawn, texts_of
from tests.report.made_report import class_names, made_report

POINTS = [MapPoint(0, 1, "test", "food", "hot\nsoup"), MapPoint(2, 3, "reviews", None, None)]
SHOWN = DocumentMap("known and foreign", ["test", "reviews"], POINTS, 0.25)


def test_dots_and_their_texts():
    [picture] = drawn(draw_document_maps, replace(made_report(class_names(2)), maps=[SHOWN]))
    assert picture.name == "map-known-and-foreign"
    groups = picture.canvas.axes[0].collections
    assert [group.get_offsets().tolist() for group in groups] == [[[0, 1]], [[2, 3]]]
    assert picture.tips == {f"{picture.name}-0": ["test · food: hot soup"], f"{picture.name}-1": ["reviews"]}
    assert {"test (1)", "reviews (1)"} == texts_of(picture) and "0.25" in picture.caption


def test_classes_have_no_silhouette_if_there_is_one():
    alone = replace(SHOWN, groups=["test"], points=POINTS[:1], silhouette=None)
    [picture] = drawn(draw_document_maps, replace(made_report(class_names(2)), maps=[alone]))
    assert "Silhouette" not in picture.caption
