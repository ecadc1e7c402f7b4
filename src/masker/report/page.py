"""``docs/reproduction.md`` and the tables of recipes in other pages, from the committed results.

``python -m masker.report.page`` (``make reproduce-page``) writes them.

Each recipe has a section: a paragraph written by hand in ``docs/reproduction_notes.md`` under a heading with the
recipe's name, then its table. Pages that are written by hand can have tables too, between the lines of :func:`marker`.
``python -m masker.report.page OUTPUT`` first takes over the summaries of an output folder of ``masker reproduce`` into
``results/reproduction``.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from masker.errors import ConfigError
from masker.experiments.recipe import load_recipe, recipe_names
from masker.experiments.stages import write_text
from masker.report.reproduction import summary_lines

RESULTS = Path("results/reproduction")
NOTES = Path("docs/reproduction_notes.md")
PAGE = Path("docs/reproduction.md")
#: Pages written by hand that have tables in them.
PAGES_WITH_TABLES = (Path("docs/audit.md"), Path("docs/quality.md"))
END = "<!-- end -->"
#: Tables before figures, as in the paper.
ORDER = (
    "ood-ablation", "ood-main", "cross-domain-ablation", "cross-domain", "nli", "stsb", "split-ratio",
    "classification-accuracy", "keyword-heatmap", "keyword-comparison", "tsne", "attention-analysis", "context-form",
    "reliance",
)  # fmt: skip
#: Recipes that answer nothing in the paper and have a page of their own.
ELSEWHERE = ("quality", "defaults")
#: The largest summary that belongs into the repository.
MAX_BYTES = 100_000

_INTRODUCTION = """\
# Reproduction

Our figures beside the paper's. This page is made from [`results/reproduction`](../results/reproduction) by
`make reproduce-page`; the paragraphs come from [`reproduction_notes.md`](reproduction_notes.md). How to run a recipe is
in [recipes.md](recipes.md). The scale `small` is made for two CPU cores with a 6-layer encoder and few documents: it
can show whether MASKER helps over vanilla training in that setting, not the paper's absolute figures.
"""


def add_results(output: Path, results: Path = RESULTS) -> list[Path]:
    """Copy the summaries of an output folder, and the figures beside them, to the committed results.

    Raises:
        ConfigError: When there is no summary, or one is too large to commit.
    """
    found = sorted(output.glob("*/summary.json"))
    if not found:
        raise ConfigError(f"'{output}' holds no summary.json; give the --output folder of 'masker reproduce'")
    added = []
    for path in found:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"'{path}' has {path.stat().st_size:,} bytes; at most {MAX_BYTES:,} belong into results")
        summary = json.loads(path.read_text(encoding="utf-8"))
        target = results / f"{summary['recipe']}.{summary['scale']}.json"
        write_text(target, path.read_text(encoding="utf-8"))
        if (path.parent / "figure.png").is_file():
            shutil.copyfile(path.parent / "figure.png", target.with_suffix(".png"))
        added.append(target)
    return added


def make_page(results: Path = RESULTS, notes: Path = NOTES) -> str:
    """The page for all results that are there; recipes without any are named at its end."""
    paragraphs = read_notes(notes.read_text(encoding="utf-8")) if notes.is_file() else {}
    lines = [_INTRODUCTION]
    missing = []
    others = sorted({*recipe_names()} - {*ORDER, *ELSEWHERE})
    for name in [*(name for name in ORDER if name in recipe_names()), *others]:
        files = sorted(results.glob(f"{name}.*.json"))
        if not files:
            missing.append(name)
        for place, path in enumerate(files):
            lines += _section(json.loads(path.read_text(encoding="utf-8")), path, paragraphs if place == 0 else {})
    if missing:
        lines += ["## Not run yet", "", *(f"- `{name}`: {load_recipe(name).title}" for name in missing), ""]
    return "\n".join(lines)


def marker(recipe: str) -> str:
    """The line of a page behind which the tables of a recipe are made, up to :data:`END`."""
    return f"<!-- tables of {recipe}, made by make reproduce-page -->"


def fill_tables(text: str, results: Path = RESULTS) -> str:
    """A page with the tables of recipes at their markers; all else stays."""

    def fill(found: re.Match[str]) -> str:
        lines = []
        for path in sorted(results.glob(f"{found[1]}.*.json")):
            lines += [*summary_lines(json.loads(path.read_text(encoding="utf-8"))), ""]
        made = "\n".join(lines or ["Not run yet.", ""])
        return f"{marker(found[1])}\n\n{made}\n{END}"

    pattern = re.escape(marker("RECIPE")).replace("RECIPE", r"(\S+)") + f".*?{re.escape(END)}"
    return re.sub(pattern, fill, text, flags=re.DOTALL)


def read_notes(text: str) -> dict[str, str]:
    """The hand-written paragraphs by recipe: what stands below each ``## name``."""
    parts = re.split(r"^## +(\S+)\s*$", text, flags=re.MULTILINE)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def _section(summary: dict[str, Any], path: Path, paragraphs: dict[str, str]) -> list[str]:
    name = summary["recipe"]
    lines = [f"## {summary['title']} (`{name}`, {summary['scale']})", ""]
    if paragraphs.get(name):
        lines += [paragraphs[name], ""]
    lines += [*summary_lines(summary), ""]
    picture = path.with_suffix(".png")
    if picture.is_file():
        lines += [f"![{summary['title']}](../results/reproduction/{picture.name})", ""]
    return [*lines, f"`masker reproduce {name} --scale {summary['scale']}`; {_origin(summary['provenance'])}.", ""]


def _origin(provenance: dict[str, Any]) -> str:
    commit = provenance.get("commit") or "an installed package"
    versions = provenance["versions"]
    return (
        f"{provenance['created'][:10]}, commit {commit[:12]}{' with local changes' if ' with' in commit else ''}, "
        f"{provenance['machine']}, torch {versions.get('torch')}, transformers {versions.get('transformers')}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line of this module."""
    parser = argparse.ArgumentParser(prog="python -m masker.report.page", description=__doc__)
    parser.add_argument("output", type=Path, nargs="?", help="take over the summaries of this folder first")
    options = parser.parse_args(arguments)
    try:
        if options.output is not None:
            add_results(options.output)
    except ConfigError as error:
        parser.error(str(error))
    write_text(PAGE, make_page())
    for page in PAGES_WITH_TABLES:
        if page.is_file():
            write_text(page, fill_tables(page.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
