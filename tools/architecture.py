"""Draws the house: the rooms of the package, what each is for, and which others it imports.

``python tools/architecture.py`` writes docs/architecture.svg; with ``--check`` it only says whether the picture is
current. Rooms and arrows come from the imports, descriptions from the docstrings, so the picture cannot rot.
"""

from __future__ import annotations

import ast
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "masker"
PICTURE = ROOT / "docs" / "architecture.svg"

#: Rooms that every other may import; arrows to them would hide the rest.
BASEMENT = ("errors", "files", "registry", "distributed", "config_sources", "config", "provenance", "progress", "labels", "hub")

WIDTH, BOX, GAP, FLOOR = 1180, 46, 14, 92


def rooms() -> dict[str, str]:
    """Name and description of every room: a package, or a module at the top."""
    found = {}
    for path in sorted(PACKAGE.iterdir()):
        source = path / "__init__.py" if path.is_dir() else path
        if source.suffix == ".py" and source.is_file() and not path.name.startswith("__"):
            text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
            found[path.stem] = text.split("\n")[0].rstrip(".")
    return found


def imports() -> dict[str, set[str]]:
    """The rooms that each room imports."""
    known = rooms()
    found: dict[str, set[str]] = {name: set() for name in known}
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
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


def floors(graph: dict[str, set[str]]) -> list[list[str]]:
    """Rooms by level: a room stands one floor above the highest room it imports."""
    level: dict[str, int] = {}

    def climb(name: str) -> int:
        if name not in level:
            level[name] = 1 + max((climb(below) for below in graph[name]), default=-1)
        return level[name]

    for name in graph:
        climb(name)
    return [[name for name in graph if level[name] == height] for height in range(max(level.values()) + 1)]


def direct(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """The graph without arrows that a longer way replaces."""

    def reach(name: str) -> set[str]:
        return {further for below in graph[name] for further in {below, *reach(below)}}

    return {
        name: {below for below in targets if not any(below in reach(other) for other in targets - {below})}
        for name, targets in graph.items()
    }


def picture() -> str:
    """The drawing as SVG."""
    described = rooms()
    graph = {
        name: {below for below in targets if below not in BASEMENT}
        for name, targets in imports().items()
        if name not in BASEMENT
    }
    levels = floors(graph)
    place: dict[str, tuple[float, float, float]] = {}
    for height, names in enumerate(reversed(levels)):
        width = (WIDTH - GAP * (len(names) + 1)) / len(names)
        box = min(width, 360.0)
        start = (WIDTH - len(names) * box - (len(names) - 1) * GAP) / 2
        for column, name in enumerate(names):
            place[name] = start + column * (box + GAP), 20 + height * FLOOR, box
    bottom = 20 + len(levels) * FLOOR
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 84}" font-family="sans-serif">',
        "<title>The rooms of masker and what they import</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#667"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{bottom + 84}" fill="#fff"/>',
    ]
    for name, targets in sorted(direct(graph).items()):
        x, y, box = place[name]
        for below in sorted(targets):
            left, top, wide = place[below]
            lines.append(
                f'<path d="M{x + box / 2:.0f} {y + BOX} C{x + box / 2:.0f} {y + BOX + 30:.0f} {left + wide / 2:.0f} '
                f'{top - 30:.0f} {left + wide / 2:.0f} {top:.0f}" fill="none" stroke="#99a" marker-end="url(#tip)"/>'
            )
    for name, (x, y, box) in sorted(place.items()):
        lines += _box(x, y, box, name, described[name])
    lines.append(
        f'<rect x="10" y="{bottom}" width="{WIDTH - 20}" height="64" rx="6" fill="#eef" stroke="#889"/>'
        f'<text x="{WIDTH / 2}" y="{bottom + 26}" text-anchor="middle" font-size="14" font-weight="bold">'
        f"{escape(' · '.join(name for name in BASEMENT if name in described))}</text>"
        f'<text x="{WIDTH / 2}" y="{bottom + 48}" text-anchor="middle" font-size="12" fill="#445">'
        "the basement: every room may import these</text>"
    )
    return "\n".join([*lines, "</svg>", ""])


def _box(x: float, y: float, box: float, name: str, description: str) -> list[str]:
    room = int(box / 5.6)
    short = description if len(description) <= room else description[: room - 1].rsplit(" ", 1)[0] + " …"
    middle = x + box / 2
    return [
        f'<rect x="{x:.0f}" y="{y}" width="{box:.0f}" height="{BOX}" rx="6" fill="#f7f7fb" stroke="#667"/>',
        f'<text x="{middle:.0f}" y="{y + 19}" text-anchor="middle" font-size="14" font-weight="bold">{name}</text>',
        f'<text x="{middle:.0f}" y="{y + 36}" text-anchor="middle" font-size="10.5" fill="#445">{escape(short)}</text>',
    ]


def main() -> None:
    """Write the picture, or check it."""
    drawn = picture()
    if "--check" in sys.argv:
        sys.exit(0 if PICTURE.is_file() and PICTURE.read_text(encoding="utf-8") == drawn else f"{PICTURE} is out of date")
    PICTURE.write_text(drawn, encoding="utf-8")
    print(PICTURE)


if __name__ == "__main__":
    main()
