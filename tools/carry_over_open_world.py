"""Write the cells of ``results/open_world.json`` as a summary of the recipe ``open-world``.

``python tools/carry_over_open_world.py``; for once. The cells were measured by ``python -m benchmarks.open_world``, before
there was the recipe. The summary says so, and a run of the recipe replaces it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from masker.experiments.open_world_comparison import compare_parts
from masker.experiments.recipe import load_recipe
from masker.experiments.recipe_parts import OpenWorldOptions
from masker.experiments.summary import FORMAT, dumps_summary
from masker.files import write_text

MEASURED = Path("results/open_world.json")
SUMMARY = Path("results/reproduction/open-world.small.json")
CORPORA = {"hwu64": "HWU64", "snips": "SNIPS", "atis": "ATIS", "20newsgroups": "Newsgroup"}
NAMES = {"noise": "in_no_group", "seconds": "processor_seconds"}
#: The commits that the cells of each part came with; the commit they were measured with was not recorded.
CAME_WITH = {"discover": "8472ee3", "extend": "43d9edd", "review": "af95234"}
NOTES = [
    "**Carried over: not yet measured by this recipe**, but by the command that it replaces, `python -m "
    "benchmarks.open_world`, in those cells that had been run; the figures came with the commits "
    + ", ".join(f"{commit} ({part})" for part, commit in CAME_WITH.items())
    + ". At seed 0 it took the same training and test texts, but of ATIS also a few test texts of known classes without a "
    "training text; the texts to extend by, to choose from and of SST-2 were others.",
    "Training texts are at most 1,200 of HWU64, 700 of SNIPS and of ATIS.",
]


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {NAMES.get(name, name): rounded(inner) for name, inner in value.items() if name != "provenance"}
    return round(value, 6) if isinstance(value, float) else value


def main() -> None:
    measured, recipe = json.loads(MEASURED.read_text(encoding="utf-8")), load_recipe("open-world")
    rows = []
    for part, cells in ((part, measured[part]) for part in CAME_WITH):
        for name, cell in cells.items():
            corpus, share, seed = name.split()
            place = {"train": f"{CORPORA[corpus]} {100 * float(share):.0f} %", "model": "minilm", "system": part}
            rows.append({**place, "seed": int(seed), "part": part, **rounded(cell)})
    order = list(recipe.sources)
    rows.sort(key=lambda row: (list(CAME_WITH).index(row["part"]), order.index(row["train"]), row["seed"]))
    scale, options = recipe.scale("small"), OpenWorldOptions.model_validate(recipe.analysis.options)
    summary = {
        "format": FORMAT,
        "recipe": recipe.name,
        "title": recipe.title,
        "scale": "small",
        "systems": {name: system.title for name, system in recipe.systems.items()},
        "setting": {
            "hardware": scale.hardware,
            "models": ["minilm"],
            "seeds": sorted({row["seed"] for row in rows}),
            "train_documents": 1200,
            "test_documents": 1500,
            "class_ratio": None,
            "split_by_seed": True,
            "stand_ins": {},
            "settings": {"model": {"max_length": 256}},
            "notes": NOTES,
        },
        "carried_over": {
            "command": "python -m benchmarks.open_world",
            "file": f"{MEASURED} of commit af95234",
            "by": "tools/carry_over_open_world.py",
            "cells": {part: sorted(measured[part]) for part in CAME_WITH},
            "created": {part: sorted({cell["provenance"] for cell in measured[part].values()}) for part in CAME_WITH},
        },
        "provenance": {"commit": None, **measured["provenance"]},
        "figure": None,
        "shows": None,
        "analysis": rows,
        "comparisons": compare_parts(rows, options.chosen_on),
    }
    write_text(SUMMARY, dumps_summary(summary))


if __name__ == "__main__":
    main()
