"""Data flows one way: a package imports only from those above it in this list."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import masker

ORDER = [
    "errors",
    "files",
    "registry",
    "distributed",
    "config",
    "provenance",
    "progress",
    "labels",
    "hub",
    "ray",
    "metrics",
    "corpora",
    "documents",
    "keywords",
    "masking",
    "losses",
    "modeling",
    "inference",
    "training",
    "detection",
    "audit",
    "systems",
    "model",
    "classifier",
    "export",
    "commands",
    "experiments",
    "report",
    "cli",
    "__main__",
]
ROOT = Path(masker.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def home(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_homes(path: Path) -> set[str]:
    homes = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "masker":
            parts = node.module.split(".")[1:]
            homes |= {parts[0]} if parts else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            homes |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("masker.")}
    return homes


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_upwards_only(path):
    allowed = ORDER[: ORDER.index(home(path)) + 1]
    assert imported_homes(path) <= set(allowed), f"{home(path)} may import only {allowed}"


def test_no_room_without_a_name():
    names = {path.stem for path in MODULES}
    assert not names & {"utils", "common", "helpers", "misc"}


def test_modules_stay_small():
    long = {str(path.relative_to(ROOT)): n for path in MODULES if (n := len(path.read_text().splitlines())) > 400}
    assert not long
