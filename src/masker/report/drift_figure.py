"""The course of the traffic as a picture, from the state of a monitor. Needs matplotlib, an optional extra."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from masker.errors import ConfigError
from masker.extras import require
from masker.files import atomic_path

#: Okabe and Ito's blue, vermilion and grey: apart for every kind of colour vision, and in print by their lines.
_BLUE, _RED, _GREY = "#0072B2", "#D55E00", "#5a5a5a"
#: Blocks in a picture.
_POINTS = 40
_FORMATS = (".svg", ".png")


def check_figure(path: str) -> None:
    """Refuse what cannot be drawn before anything is computed."""
    if Path(path).suffix.lower() not in _FORMATS:
        raise ConfigError(f"--plot '{path}' must end in .svg or .png")
    require("--plot", "matplotlib", instead="leave it out")


def draw_drift(state: dict[str, Any], path: str | Path) -> Path:
    """Draw the share of strange texts and the evidence of a change, over the texts seen."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 5.0), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    share, evidence = figure.subplots(2, 1, sharex=True)
    figure.suptitle("\n".join(textwrap.wrap(state["sentence"], 92)), fontsize=9, x=0.01, ha="left")
    blocks = _blocks(state["series"])
    _draw_share(share, blocks, state)
    _draw_evidence(evidence, blocks, state)
    for axes in (share, evidence):
        axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
        axes.set_xlim(0, max(1, state["observed"]))
    _label_texts(evidence, blocks)
    target = Path(path).expanduser()
    # Otherwise the ids inside an SVG are drawn at random.
    with atomic_path(target) as temporary, rc_context({"svg.hashsalt": "masker"}):
        kind = target.suffix.lower()[1:]
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(temporary, dpi=150, format=kind, metadata=metadata)
    return target


def _blocks(series: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The blocks, joined until they are large enough to show more than chance; a small last one is left out."""
    joined: list[dict[str, Any]] = []
    texts = sum(block["texts"] for block in series) / _POINTS
    for block in series:
        if joined and joined[-1]["texts"] < texts:
            last = joined[-1]
            last["texts"] += block["texts"]
            last["strange"] += block["strange"]
            last["evidence"] = max(last["evidence"], block["evidence"])
        else:
            joined.append(dict(block))
    if len(joined) > 1 and joined[-1]["texts"] < joined[0]["texts"] / 2:
        joined.pop()
    return joined


def _draw_share(axes: Any, blocks: list[dict[str, Any]], state: dict[str, Any]) -> None:
    expected = 100 * state["expected_strange"]
    middles = [block["start"] - 1 + block["texts"] / 2 for block in blocks]
    shares = [100 * block["strange"] / block["texts"] for block in blocks]
    axes.plot(middles, shares, color=_BLUE, linewidth=1.4, marker="o", markersize=3)
    _limit(axes, expected, "quiet", _GREY)
    texts = blocks[0]["texts"] if blocks else 1
    axes.set_ylabel(f"strange texts,\n% of each {texts:,}", fontsize=8)
    axes.set_ylim(0, max(2.5 * expected, 1.15 * max(shares, default=0.0)))
    _mark_alarm(axes, state, named=True)


def _draw_evidence(axes: Any, blocks: list[dict[str, Any]], state: dict[str, Any]) -> None:
    limit = state["whole"]["evidence_limit"]
    ends = [block["start"] - 1 + block["texts"] for block in blocks]
    values = [block["evidence"] for block in blocks]
    axes.plot([0, *ends], [0.0, *values], color=_BLUE, linewidth=1.4)
    _limit(axes, limit, "alarm", _RED)
    axes.set_ylabel("evidence of a change,\nlog₁₀ of the martingale", fontsize=8)
    axes.set_ylim(min(-1.0, *values, 0.0), max(1.3 * limit, 1.1 * max(values, default=0.0)))
    _mark_alarm(axes, state, named=False)


def _limit(axes: Any, height: float, name: str, colour: str) -> None:
    """A dashed line with its name beside it, outside."""
    axes.axhline(height, color=colour, linewidth=1, linestyle="--")
    place = {"xycoords": ("axes fraction", "data"), "xytext": (3, 0), "textcoords": "offset points"}
    axes.annotate(name, (1, height), va="center", fontsize=7.5, color=colour, **place)


def _mark_alarm(axes: Any, state: dict[str, Any], *, named: bool) -> None:
    """The estimated start of the change and the first alarm, whichever group raised it."""
    alarms = [group for group in (state["whole"], *state["classes"]) if group["alarm"]]
    if not alarms:
        return
    first = min(alarms, key=lambda group: group["detected"])
    axes.axvspan(first["since"], state["observed"], color=_RED, alpha=0.08, linewidth=0)
    axes.axvline(first["detected"], color=_RED, linewidth=1.2)
    if named:
        which = f" among texts labelled '{str(first['label'])[:30]}'" if "label" in first else ""
        late = first["detected"] > state["observed"] / 2
        place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        axes.annotate(
            f"alarm{which}; shaded since the change began",
            (first["detected"], 1),
            xytext=(-4 if late else 4, 3),
            ha="right" if late else "left",
            fontsize=7.5,
            color=_RED,
            **place,
        )


def _label_texts(axes: Any, blocks: list[dict[str, Any]]) -> None:
    """Numbers of texts below the picture, with the times if there are any."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    timed = [block for block in blocks if block["time"] is not None]
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4 if timed else 8, integer=True))

    def label(at: float, _: int) -> str:
        text = f"{at:,.0f}"
        before = [block for block in timed if block["start"] - 1 <= at]
        return f"{text}\n{_short(before[-1]['time'])}" if before else text

    axes.xaxis.set_major_formatter(FuncFormatter(label))
    axes.set_xlabel("texts seen" + (", and when" if timed else ""), fontsize=8)


def _short(time: Any) -> str:
    """Date and minute of an ISO time; numbers as they are."""
    return str(time)[:16].replace("T", " ") if isinstance(time, str) else f"{time:g}"
