"""Draws the architecture: the rooms (packages, and modules at the top), what each is for, and which others it imports.

    python tools/architecture.py            # writes docs/architecture.svg
    python tools/architecture.py --check    # only says whether the picture is current

Rooms and arrows come from the imports, descriptions from the docstrings, so the picture cannot go stale.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "masker"
PICTURE = ROOT / "docs" / "architecture.svg"

#: Pixels. A box is as wide as the fullest floor allows, up to this.
WIDTH, BOX, LANE, GAP, SLOPE, LINE, CHARACTER = 1000, 272, 12, 34, 46, 17, 8

_BOX_STYLE = 'fill="#f4f5fb" stroke="#557"'

Graph = dict[str, set[str]]


def rooms(package: Path = PACKAGE) -> dict[str, str]:
    """Name and description of every room: a package, or a module at the top."""
    found = {}
    for path in sorted(package.iterdir()):
        source = path / "__init__.py" if path.is_dir() else path
        if source.suffix == ".py" and source.is_file() and not path.name.startswith("__"):
            text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
            found[path.stem] = summary(text)
    return found


def summary(docstring: str) -> str:
    """The first sentence of a docstring, without markup."""
    first = re.split(r"\.(?:\s+(?=[A-Z])|$)", docstring.split("\n\n")[0].replace("\n", " "))[0]
    first = re.sub(r":\w+:`(?:[\w.]*\.)?(\w+)`", r"\1", first)
    return first.replace("``", "").strip()


def imports(package: Path = PACKAGE) -> Graph:
    """The rooms that each room imports."""
    known = rooms(package)
    found: Graph = {name: set() for name in known}
    for path in sorted(package.rglob("*.py")):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        if room not in known:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "masker":
                parts = node.module.split(".")[1:]
                names = [parts[0]] if parts else [alias.name for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name.split(".")[1] for alias in node.names if alias.name.startswith("masker.")]
            found[room] |= {name for name in names if name in known and name != room}
    return found


def basement(graph: Graph, package: Path = PACKAGE) -> list[str]:
    """Single modules that import only each other. Every room may use them; arrows to them would hide the rest."""
    found = [name for name in graph if not (package / name).is_dir()]
    while upstairs := [name for name in found if not graph[name] <= set(found)]:
        found = [name for name in found if name not in upstairs]
    return found


def find_cycle(graph: Graph) -> list[str]:
    """Rooms that import each other in a circle, the first one repeated at the end; empty if there are none."""
    done: set[str] = set()

    def search(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name not in done:
            for below in sorted(graph[name]):
                if found := search(below, [*path, name]):
                    return found
            done.add(name)
        return []

    return next((found for name in sorted(graph) if (found := search(name, []))), [])


def floors(graph: Graph) -> list[list[str]]:
    """Rooms by floor, the lowest first: as high as the rooms that import them allow, so that arrows are short.

    Raises:
        ValueError: When rooms import each other in a circle; names them.
    """
    if cycle := find_cycle(graph):
        raise ValueError(f"rooms import each other in a circle: {' -> '.join(cycle)}; remove one of these imports")
    level: dict[str, int] = {}

    def climb(name: str) -> int:
        if name not in level:
            level[name] = 1 + max((climb(below) for below in graph[name]), default=-1)
        return level[name]

    for name in graph:
        climb(name)
    for name in sorted(graph, key=lambda name: -level[name]):
        above = [level[other] for other in graph if name in graph[other]]
        level[name] = min(above) - 1 if above else level[name]
    return [sorted(name for name in graph if level[name] == height) for height in range(max(level.values()) + 1)]


def direct(graph: Graph) -> Graph:
    """The graph without arrows that a longer way implies."""

    def reach(name: str) -> set[str]:
        return {further for below in graph[name] for further in {below, *reach(below)}}

    return {
        name: {below for below in targets if not any(below in reach(other) for other in targets - {below})}
        for name, targets in graph.items()
    }


@dataclass
class Place:
    """A room, or a lane that an arrow takes past a floor; x is its middle, ``name`` is empty for a lane."""

    name: str
    floor: int
    width: float = BOX
    x: float = 0.0


@dataclass
class Layout:
    """Where everything is: floors from the lowest to the highest, and each arrow as the places it passes."""

    floors: list[list[Place]]
    arrows: list[list[Place]]

    @property
    def steps(self) -> list[tuple[Place, Place]]:
        """The arrows, cut at every floor: (upper, lower)."""
        return [step for arrow in self.arrows for step in pairwise(arrow)]


def lay_out(graph: Graph) -> Layout:
    """Place the rooms so that arrows cross each other little and no room at all."""
    levels = [[Place(name, height) for name in names] for height, names in enumerate(floors(graph))]
    home = {place.name: place for level in levels for place in level}
    arrows = []
    for name, targets in sorted(direct(graph).items()):
        for below in sorted(targets):
            lanes = [Place("", height, LANE) for height in range(home[name].floor - 1, home[below].floor, -1)]
            for lane in lanes:
                levels[lane.floor].append(lane)
            arrows.append([home[name], *lanes, home[below]])
    layout = Layout(levels, arrows)
    box = min(_widest_box(level) for level in levels)
    for place in home.values():
        place.width = box
    for level in levels:
        _spread(level, [WIDTH / 2 + index for index in range(len(level))])
    best, fewest = [list(level) for level in levels], _badness(layout)
    for turn in range(24):
        order = levels if turn % 2 else levels[::-1]
        for level in order:
            neighbours = [_neighbours(layout, place, above=turn % 4 < 2) for place in level]
            middles = [
                sum(other.x for other in near) / len(near) if near else place.x
                for place, near in zip(level, neighbours, strict=True)
            ]
            ranked = sorted(range(len(level)), key=lambda index: (middles[index], index))
            level[:] = [level[index] for index in ranked]
            _spread(level, [middles[index] for index in ranked])
        if _badness(layout) < fewest:
            best, fewest = [list(level) for level in levels], _badness(layout)
    layout.floors = best
    for level in best:
        _spread(level, [WIDTH / 2 + index for index in range(len(level))])
    for _ in range(12):
        for level in (*best, *best[::-1]):
            near = [_neighbours(layout, place) or [place] for place in level]
            _spread(level, [sum(other.x for other in places) / len(places) for places in near])
    return layout


def _widest_box(level: list[Place]) -> float:
    count = sum(bool(place.name) for place in level)
    return min(BOX, (WIDTH - GAP * len(level) - LANE * (len(level) - count)) // count)


def _neighbours(layout: Layout, place: Place, above: bool | None = None) -> list[Place]:
    upper = [one for one, other in layout.steps if other is place] if above is not False else []
    lower = [other for one, other in layout.steps if one is place] if above is not True else []
    return upper + lower


def _badness(layout: Layout) -> tuple[int, float]:
    """Crossings of arrows between floors, then the total sideways way of the arrows."""
    rank = {id(place): index for level in layout.floors for index, place in enumerate(level)}
    steps = [(one.floor, rank[id(one)], rank[id(other)]) for one, other in layout.steps]
    crossings = sum(
        (a[1] - b[1]) * (a[2] - b[2]) < 0 for index, a in enumerate(steps) for b in steps[:index] if a[0] == b[0]
    )
    return crossings, sum(abs(one.x - other.x) for one, other in layout.steps)


def _spread(level: list[Place], wanted: list[float]) -> None:
    """Put the places of a floor near where they want to be, in this order, without overlap, inside the page."""
    edge = GAP / 2
    need = [(one.width + other.width) / 2 + GAP for one, other in pairwise(level)]
    for place, x in zip(level, wanted, strict=True):
        place.x = x
    for _ in range(200):
        for one, other, gap in zip(level, level[1:], need, strict=False):
            lack = gap - (other.x - one.x)
            if lack > 0:
                one.x, other.x = one.x - lack / 2, other.x + lack / 2
        level[0].x = max(level[0].x, edge + level[0].width / 2)
        level[-1].x = min(level[-1].x, WIDTH - edge - level[-1].width / 2)


def _ports(layout: Layout) -> dict[tuple[int, int, bool], float]:
    """Where arrows leave and reach a room: side by side, in the order of their other ends.

    Returns:
        x by arrow number, step number and whether it is the upper end.
    """
    ends: dict[tuple[int, bool], list[tuple[float, int, int]]] = {}
    places = {}
    for number, arrow in enumerate(layout.arrows):
        for step, (one, other) in enumerate(pairwise(arrow)):
            ends.setdefault((id(one), True), []).append((other.x, number, step))
            ends.setdefault((id(other), False), []).append((one.x, number, step))
            places[id(one)], places[id(other)] = one, other
    found = {}
    for (place, upper), arrows in ends.items():
        apart = min(40.0, places[place].width / (len(arrows) + 1))
        for index, (_, number, step) in enumerate(sorted(arrows)):
            found[number, step, upper] = places[place].x + apart * (index - (len(arrows) - 1) / 2)
    return found


def picture(package: Path = PACKAGE) -> str:
    """The drawing as SVG."""
    described = rooms(package)
    graph = imports(package)
    below = basement(graph, package)
    layout = lay_out({name: targets - set(below) for name, targets in graph.items() if name not in below})
    texts = {
        place.name: wrap(described[place.name], int(place.width / CHARACTER), break_on_hyphens=False)
        for level in layout.floors
        for place in level
        if place.name
    }
    tall = [max(34 + LINE * len(texts[place.name]) for place in level if place.name) for level in layout.floors]
    top, height = [0.0] * len(tall), 14.0
    for index in reversed(range(len(tall))):
        top[index] = height
        height += tall[index] + SLOPE
    lines = [
        "<title>The packages and modules of masker and what they import</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#557"/></marker></defs>',
    ]
    ports = _ports(layout)
    for number, arrow in enumerate(layout.arrows):
        way = f"M{ports[number, 0, True]:.0f} {top[arrow[0].floor] + tall[arrow[0].floor]:.0f}"
        for step, (one, other) in enumerate(pairwise(arrow)):
            start, end = top[one.floor] + tall[one.floor], top[other.floor]
            x, goal = ports[number, step, True], ports[number, step, False]
            bend = (start + end) / 2
            way += f" C{x:.0f} {bend:.0f} {goal:.0f} {bend:.0f} {goal:.0f} {end:.0f}"
            if not other.name:
                way += f" V{end + tall[other.floor]:.0f}"
        lines.append(f'<path d="{way}" fill="none" stroke="#88a" stroke-width="1.4" marker-end="url(#tip)"/>')
    for level in layout.floors:
        for place in sorted((place for place in level if place.name), key=lambda place: place.name):
            lines += _box(place, top[place.floor], tall[place.floor], texts[place.name])
    names = wrap(" · ".join(below), WIDTH // CHARACTER, break_on_hyphens=False)
    lines += _basement(height, names)
    bottom = height + 32 + LINE * (1 + len(names)) + 14
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom:.0f}" font-family="sans-serif">',
            f'<rect width="{WIDTH}" height="{bottom:.0f}" fill="#fff"/>',
            *lines,
            "</svg>",
            "",
        ]
    )


def _box(place: Place, y: float, tall: float, text: list[str]) -> list[str]:
    left, wide = place.x - place.width / 2, place.width
    return [
        f'<rect x="{left:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{tall:.0f}" rx="6" {_BOX_STYLE}/>',
        _text(place.x, y + 21, place.name, 'font-size="16" font-weight="bold" fill="#112"'),
        *(
            _text(place.x, y + 23 + LINE * line, words, 'font-size="13" fill="#334"')
            for line, words in enumerate(text, 1)
        ),
    ]


def _basement(y: float, names: list[str]) -> list[str]:
    tall = 32 + LINE * (1 + len(names))
    return [
        f'<rect x="14" y="{y:.0f}" width="{WIDTH - 28}" height="{tall}" rx="6" fill="#eceef8" stroke="#557"/>',
        *(
            _text(WIDTH / 2, y + 27 + LINE * line, words, 'font-size="14" fill="#112"')
            for line, words in enumerate(names)
        ),
        _text(WIDTH / 2, y + tall - 16, "every package and module may import these", 'font-size="13" fill="#334"'),
    ]


def _text(x: float, y: float, words: str, style: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" {style}>{escape(words)}</text>'


def main() -> None:
    """Write the picture, or check it."""
    try:
        drawn = picture()
    except ValueError as error:
        sys.exit(f"architecture: {error}")
    if "--check" in sys.argv:
        current = PICTURE.is_file() and PICTURE.read_text(encoding="utf-8") == drawn
        sys.exit(0 if current else f"{PICTURE} is out of date; run: python tools/architecture.py")
    PICTURE.write_text(drawn, encoding="utf-8")
    print(PICTURE)


if __name__ == "__main__":
    main()
