"""Data flows one way: a package imports only from those above it in this list."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import masker

ORDER = [
    "errors",
    "extras",
    "files",
    "blas_threads",
    "registry",
    "distributed",
    "config_sources",
    "presets",
    "config_sections",
    "config_checks",
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
    "model_files",
    "model_training",
    "model_evaluation",
    "model_calibration",
    "model",
    "classifier_parameters",
    "classifier",
    "evidence",
    "discovery",
    "extension",
    "labelling",
    "client",
    "audit",
    "analysis",
    "monitoring",
    "export",
    "service",
    "commands",
    "experiments",
    "report",
    "cli",
    "__main__",
]
ROOT = Path(masker.__file__).parent
#: Signatures that a library prescribes, the one-call interface of the audit, and a method that has the options of
#: ``masker calibrate``.
GIVEN = {
    "audit/keyword_audit.py:audit",
    "classifier.py:__init__",
    "classifier.py:calibrate",
    "modeling/network.py:forward",
    "training/fast_dropout.py:_attention",
}
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
    long = {str(path.relative_to(ROOT)): n for path in MODULES if (n := len(path.read_text().splitlines())) > 310}
    assert not long


def test_module_names_are_unique():
    """A command and the library module it calls may share a name; nothing else may."""
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        if path.stem != "__init__" and home(path) != "cli":
            homes.setdefault(path.stem, []).append(str(path.relative_to(ROOT)))
    repeated = {name: paths for name, paths in homes.items() if len(paths) > 1 and not _is_command(paths)}
    assert not repeated


def _is_command(paths: list[str]) -> bool:
    return len(paths) == 2 and sum(path.startswith("commands/") for path in paths) == 1


def test_public_names_are_unique():
    """No two public classes or functions share a name, whatever their rooms."""
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert not {name: paths for name, paths in homes.items() if len(paths) > 1}


def test_functions_stay_small():
    """Fifty lines of code and seven parameters; scikit-learn's constructor and transformers' forward are given."""
    too_long, too_wide = {}, {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            name = f"{path.relative_to(ROOT)}:{node.name}"
            documented = ast.get_docstring(node) is not None
            body = node.body[1:] if documented else node.body
            if body and body[-1].end_lineno - body[0].lineno + 1 > 50:
                too_long[name] = body[-1].end_lineno - body[0].lineno + 1
            parameters = [*node.args.args, *node.args.kwonlyargs]
            if len([one for one in parameters if one.arg not in ("self", "cls")]) > 7 and home(path) != "cli":
                too_wide[name] = len(parameters)
    assert not too_long
    assert set(too_wide) <= GIVEN
