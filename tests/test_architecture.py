"""The picture in docs/architecture.md shows the imports of today, and is readable."""

from __future__ import annotations

import importlib.util
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "tools" / "architecture.py"


@pytest.fixture(scope="module")
def architecture():
    spec = importlib.util.spec_from_file_location("architecture", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def package(folder: Path, **sources: str) -> Path:
    for name, source in sources.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(source)
    return folder


def test_the_committed_picture_is_current(architecture):
    current = architecture.PICTURE.is_file() and architecture.PICTURE.read_text(encoding="utf-8")
    assert current == architecture.picture(), "run: python tools/architecture.py"


def test_rooms_and_arrows_come_from_the_source(architecture, tmp_path):
    house = package(
        tmp_path / "house",
        attic='"""Top, by Eq. 1 of :class:`masker.cellar.Wine`. More."""\nimport masker.hall.stairs\n',
        hall='"""Middle."""\nfrom masker.cellar import wine\n',
        cellar='"""Low."""\nfrom masker import errors\n',
    )
    (house / "errors.py").write_text('"""Errors."""\n')
    (house / "lift.py").write_text('"""Up and down."""\nfrom masker import errors, hall\n')
    rooms = {"attic": "Top, by Eq. 1 of Wine", "cellar": "Low", "errors": "Errors", "hall": "Middle"}
    assert architecture.rooms(house) == {**rooms, "lift": "Up and down"}
    graph = {"attic": {"hall"}, "cellar": {"errors"}, "errors": set(), "hall": {"cellar"}, "lift": {"errors", "hall"}}
    assert architecture.imports(house) == graph
    assert architecture.basement(graph, house) == ["errors"]
    drawn = architecture.picture(house)
    assert re.findall(r'font-weight="bold"[^>]*>(\w+)<', drawn) == ["cellar", "hall", "attic", "lift"]
    assert drawn.count("marker-end") == 3


def test_a_circle_is_refused_with_its_rooms(architecture, tmp_path):
    house = package(
        tmp_path / "house",
        attic='"""Top."""\nimport masker.hall\n',
        hall='"""Middle."""\nimport masker.cellar\n',
        cellar='"""Low."""\nimport masker.hall\n',
    )
    with pytest.raises(ValueError, match="in a circle: hall -> cellar -> hall; remove one"):
        architecture.picture(house)


def test_an_arrow_that_a_longer_way_implies_is_left_out(architecture):
    graph = {"cli": {"model", "metrics"}, "model": {"metrics"}, "metrics": set()}
    assert architecture.direct(graph) == {"cli": {"model"}, "model": {"metrics"}, "metrics": set()}


def test_a_room_is_one_floor_below_the_lowest_that_imports_it(architecture):
    graph = {"cli": {"model", "ray"}, "model": {"data"}, "ray": set(), "data": set()}
    assert architecture.floors(graph) == [["data"], ["model", "ray"], ["cli"]]


def test_nothing_overlaps(architecture):
    """Rooms and the lanes of arrows between them keep their distance, on the page."""
    graph = {name: set() for name in "abcdefg"} | {"a": set("bcde"), "b": {"f"}, "c": {"f"}, "f": {"g"}, "e": {"g"}}
    layout = architecture.lay_out({**graph, "a": set("bcdeg")})
    assert any(len(arrow) > 2 for arrow in layout.arrows)
    for level in layout.floors:
        assert level[0].x - level[0].width / 2 >= 0 and level[-1].x + level[-1].width / 2 <= architecture.WIDTH
        for left, right in pairwise(level):
            assert left.x + left.width / 2 + 10 < right.x - right.width / 2
