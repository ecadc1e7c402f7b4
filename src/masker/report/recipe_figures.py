"""Pictures of the paper's figures, drawn from results. Needs matplotlib, an optional extra."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from masker.files import write_text

if TYPE_CHECKING:
    from masker.experiments.reproduce import Outcome

_log = logging.getLogger("masker")

FIGURE = "figure.svg"
#: Letters that fit above a panel of bars.
_TITLE = 38


def draw_figure(outcome: Outcome) -> Path | None:
    """Draw the figure of an analysis into ``figure.svg``; ``None`` if it has none or matplotlib is not installed.

    It shows the models of the first seed, as the paper shows one of each.
    """
    kind = outcome.plan.recipe.analysis.kind if outcome.plan.recipe.analysis is not None else ""
    if kind not in _DRAW:
        return None
    if find_spec("matplotlib") is None:
        _log.warning("no figure drawn because matplotlib is not installed; install it with pip install 'masker[plots]'")
        return None
    import matplotlib

    from masker.report.figures.canvas import STYLE, Picture, new_canvas
    from masker.report.inline_svg import svg_file, svg_of

    draw, width, height, across = _DRAW[kind]
    first = min(content["seed"] for content in outcome.results.values())
    results = [content for content in outcome.results.values() if content["seed"] == first]
    across = min(across, len(results))
    down = -(-len(results) // across)
    with matplotlib.rc_context(STYLE):
        canvas = new_canvas(height * down, width * across)
        panels = canvas.subplots(down, across, squeeze=False).ravel()
        for axes in panels[len(results) :]:
            axes.set_visible(False)
        for axes, content in zip(panels, results, strict=False):
            draw(axes, content, outcome.summary["systems"][content["system"]])
        picture = Picture(outcome.summary["recipe"], outcome.summary["title"], "", canvas)
        write_text(outcome.folder / FIGURE, svg_file(svg_of(picture)))
    return outcome.folder / FIGURE


def _heatmap(axes: Any, content: dict[str, Any], system: str) -> None:
    from masker.report.plain_text import short_label

    rates = content["result"]["rates"]
    sources, targets = list(rates), list(next(iter(rates.values())))
    matrix = np.array([[rates[source][target] for source in sources] for target in targets])
    image = axes.pcolormesh(matrix, cmap="Blues", vmin=0.0, edgecolors="white", linewidth=0.5)
    axes.set_xticks(np.arange(len(sources)) + 0.5, [short_label(name, 22) for name in sources], rotation=60, ha="right")
    axes.set_yticks(np.arange(len(targets)) + 0.5, [short_label(name, 40) for name in targets], fontsize=6)
    axes.invert_yaxis()
    axes.set_title(f"keywords of {content['train']}, % of tokens")
    axes.grid(visible=False)
    axes.figure.colorbar(image, ax=axes, shrink=0.7)


def _plane(axes: Any, content: dict[str, Any], system: str) -> None:
    from masker.report.figures.map_figure import dots_on

    name = f"{content['train']}-{content['system']}"
    dots_on(axes, content["result"]["points"], "".join(letter for letter in name if letter.isalnum()))
    axes.set_title(f"{system}, {content['train']}\nsilhouette {content['result']['silhouette']:.3f}")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0))


def _bars(axes: Any, content: dict[str, Any], system: str) -> None:
    from masker.report.figures.word_bars import bars_on

    if "words" in content["result"]:
        test, lists = next(iter(content["result"]["words"].items()))
        words, place = lists["mean"], f"{content['train']} → {test}"
    else:
        words, place = content["result"]["keywords"][:10], content["train"]
    bars_on(axes, words, fill(f"{system}: {place}", _TITLE))


#: What draws one result, its width and height in inches, and how many stand beside each other.
_DRAW = {
    "heatmap": (_heatmap, 4.6, 5.0, 2),
    "tsne": (_plane, 3.5, 3.9, 2),
    "attention": (_bars, 3.4, 3.2, 3),
    "keywords": (_bars, 3.4, 3.2, 3),
}
