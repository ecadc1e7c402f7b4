"""Pictures of the paper's figures, drawn from results. Needs matplotlib, an optional extra."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from masker.files import atomic_path

if TYPE_CHECKING:
    from masker.experiments.reproduce import Outcome

_log = logging.getLogger("masker")


def draw_figure(outcome: Outcome) -> Path | None:
    """Draw the figure of an analysis into ``figure.png``; ``None`` if it has none or matplotlib is not installed."""
    kind = outcome.plan.recipe.analysis.kind if outcome.plan.recipe.analysis is not None else ""
    if kind not in _DRAW:
        return None
    if find_spec("matplotlib") is None:
        _log.warning("no figure drawn because matplotlib is not installed; install it with pip install 'masker[plots]'")
        return None
    import matplotlib

    from masker.report.figures.canvas import STYLE, new_canvas

    draw, width, height = _DRAW[kind]
    results = outcome.results.values()
    with matplotlib.rc_context(STYLE):
        canvas = new_canvas(height, width * len(results))
        for axes, content in zip(canvas.subplots(1, len(results), squeeze=False)[0], results, strict=True):
            draw(axes, content, outcome.summary["systems"][content["system"]])
        path = outcome.folder / "figure.png"
        with atomic_path(path) as temporary:
            canvas.savefig(temporary, dpi=150, format="png", metadata={"Software": None})
    return path


def _heatmap(axes: Any, content: dict[str, Any], system: str) -> None:
    rates = content["result"]["rates"]
    sources, targets = list(rates), list(next(iter(rates.values())))
    matrix = np.array([[rates[source][target] for source in sources] for target in targets])
    image = axes.imshow(matrix, aspect="auto", cmap="Blues", vmin=0.0)
    axes.set_xticks(range(len(sources)), sources, rotation=60, ha="right", fontsize=7)
    axes.set_yticks(range(len(targets)), targets, fontsize=7)
    axes.set_title(f"keywords of {content['train']}, % of tokens")
    axes.grid(visible=False)
    axes.figure.colorbar(image, ax=axes, shrink=0.7)


def _plane(axes: Any, content: dict[str, Any], system: str) -> None:
    from masker.report.figures.map_figure import dots_on

    dots_on(axes, content["result"]["points"], "documents")
    axes.set_title(f"{system}, {content['train']}\nsilhouette {content['result']['silhouette']:.3f}")
    axes.legend()


def _bars(axes: Any, content: dict[str, Any], system: str) -> None:
    from masker.report.figures.word_bars import bars_on

    if "words" in content["result"]:
        test, lists = next(iter(content["result"]["words"].items()))
        bars_on(axes, lists["mean"], f"{system}: {content['train']} → {test}")
    else:
        bars_on(axes, content["result"]["keywords"][:10], f"{system}: {content['train']}")


#: What draws one result, and its width and height in inches.
_DRAW = {
    "heatmap": (_heatmap, 5, 5),
    "tsne": (_plane, 3.5, 3.8),
    "attention": (_bars, 4, 3.5),
    "keywords": (_bars, 4, 3.5),
}
