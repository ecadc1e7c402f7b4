"""The section of the performance page on short texts: seconds, quality and goals, from the rows and nothing else."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.masker_system import DEFAULT
from benchmarks.measure import Row, compare
from benchmarks.short_texts import LINEAR, MANY_TEXTS, MAX_STEPS, SETFIT
from masker.experiments.comparison import compare_paired
from masker.report.verdict import verdict

#: Percentages by (texts, seed) and test set.
Figures = dict[tuple[tuple[str, int], str], float]

#: Goals of the default: seconds, against SetFit, and in total against the linear baseline.
MOST_SECONDS, MOST_OF_SETFIT, MOST_OF_LINEAR = 60.0, 0.5, 4.0
_WHY_NOT_OF_LINEAR = (
    "two thirds of the time are steps of fine-tuning. Fewer of them, or frozen lower layers, come nearer to the goal; "
    "in a trial both cost detection of unseen classes, so the default does neither"
)

_HEAD = f"""
## Short texts

`python -m benchmarks --only short-texts`, a part of `make bench`, measures what training on few short texts takes. It
needs the corpora in the `MASKER_DATA` folder and, once, `make bench-setfit`: SetFit has an environment of its own and
is no dependency. The default, `--method linear` and SetFit take turns on the same texts, seeds, encoder and two cores,
each in a fresh process. "trained" counts from the imported libraries to a model that can predict: for masker with
loading the encoder, keywords and calibration, for SetFit without loading the encoder. "in total" counts from the start
of the process. SetFit stops after {MAX_STEPS} steps, since its default pairs every text with every other. Run it on a
quiet machine: masker changes how threads wait for each other and SetFit does not, so a busy neighbour slows SetFit down
more.
"""
_SOURCE = "\nThe rows are in [`results/short_texts.json`](../results/short_texts.json).\n"
_NOTHING = "\nNo run is stored yet.\n"


def short_texts_section(processors: dict[str, Any]) -> str:
    section = _HEAD + (_SOURCE if processors else _NOTHING)
    for kind, results in processors.items():
        section += f"\n{kind}: median over seeds, smallest and largest in brackets.\n\n{_table(results['rows'])}"
        section += _goals(results["rows"]) + _comparisons(results["rows"]) + _origin(results["provenance"])
    return section


def _by_case_and_system(rows: list[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["case"], row["system"]), []).append(row)
    return groups


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| texts | system | trained, s | in total, s | accuracy, % | AUROC, % | known texts rejected, % |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (case, system), group in _by_case_and_system(rows).items():
        first = group[0]
        cells = [
            f"{case} ({first['texts']:,} texts, {first['classes']} classes)",
            system,
            _spread([row["seconds"] for row in group]),
            _spread([row["total_seconds"] for row in group]),
            _spread([100 * row["accuracy"] for row in group]),
            "; ".join(_areas(group)),
            _spread([100 * row["rejected"]["test"] for row in group]) if "rejected" in first else "–",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _areas(group: list[dict[str, Any]]) -> list[str]:
    """AUROC by set of foreign texts; by score where a system has several."""
    texts = []
    for name, scores in group[0]["auroc"].items():
        for score in scores:
            by = f" by {score}" if len(scores) > 1 else ""
            texts.append(f"{name}{by} {_spread([100 * row['auroc'][name][score] for row in group])}")
    return texts


def _spread(values: list[float]) -> str:
    middle = f"{statistics.median(values):.1f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.1f} – {max(values):.1f})"


def goal_rows(rows: list[dict[str, Any]]) -> list[Row]:
    """The goals as far as both sides are measured, on the seeds that both have."""
    groups = {key: {row["seed"]: row for row in group} for key, group in _by_case_and_system(rows).items()}
    goals = []

    def add(case: str, what: str, other: str, key: str, limit: float) -> None:
        ours, theirs = groups.get((case, DEFAULT), {}), groups.get((case, other), {})
        seeds = [seed for seed in ours if seed in theirs]
        if seeds:
            times = ([side[seed][key] for seed in seeds] for side in (ours, theirs))
            goals.append(compare(f"{case}: {what}", other, *times, at_most=limit))

    for case in dict.fromkeys(row["case"] for row in rows):
        add(case, "default, trained", SETFIT, "seconds", MOST_OF_SETFIT)
        if any(row["texts"] >= MANY_TEXTS for row in rows if row["case"] == case):
            add(case, "default, in total", LINEAR, "total_seconds", MOST_OF_LINEAR)
    return goals


def _goals(rows: list[dict[str, Any]]) -> str:
    lines = []
    for goal in goal_rows(rows):
        spread = f"{goal.ratio:.2f} ({goal.low:.2f} – {goal.high:.2f})"
        reached = "yes" if goal.reached else "no"
        why = f" ({_WHY_NOT_OF_LINEAR})" if goal.against == LINEAR and not goal.reached else ""
        lines.append(f"- {goal.what} against {goal.against}: {spread} times; {goal.goal}: {reached}{why}")
    for (case, system), group in _by_case_and_system(rows).items():
        if system == DEFAULT and group[0]["texts"] < MANY_TEXTS:
            seconds = statistics.median(row["seconds"] for row in group)
            reached = "yes" if seconds <= MOST_SECONDS else "no"
            lines.append(f"- {case}: default, trained in {seconds:.1f} s; at most {MOST_SECONDS:g} s: {reached}")
    return "\nGoals:\n\n" + "\n".join(lines) + "\n" if lines else ""


def _comparisons(rows: list[dict[str, Any]]) -> str:
    """The default against each other system, paired by texts and seed."""
    lines = []
    for other in (LINEAR, SETFIT):
        theirs = [row for row in rows if row["system"] == other]
        scores = dict.fromkeys(score for row in theirs for by_score in row["auroc"].values() for score in by_score)
        lines.append(_paired_line(f"{other}, accuracy", _accuracies(rows, DEFAULT), _accuracies(rows, other)))
        for score in scores:
            by = f" by {score}" if len(scores) > 1 else ""
            lines.append(_paired_line(f"{other}{by}, AUROC", _own_areas(rows), _system_areas(theirs, score)))
    found = [line for line in lines if line]
    return "\nQuality, paired by texts and seed:\n\n" + "\n".join(found) + "\n" if found else ""


def _accuracies(rows: list[dict[str, Any]], system: str) -> Figures:
    return {((row["case"], row["seed"]), "test"): 100 * row["accuracy"] for row in rows if row["system"] == system}


def _own_areas(rows: list[dict[str, Any]]) -> Figures:
    return _system_areas([row for row in rows if row["system"] == DEFAULT], "own score")


def _system_areas(rows: list[dict[str, Any]], score: str) -> Figures:
    return {
        ((row["case"], row["seed"]), name): 100 * by_score[score]
        for row in rows
        for name, by_score in row["auroc"].items()
        if score in by_score
    }


def _paired_line(against: str, ours: Figures, theirs: Figures) -> str:
    paired = compare_paired(ours, theirs)
    if paired is None:
        return ""
    runs = "1 pair" if paired.units == 1 else f"{paired.units} pairs"
    claim = verdict(paired.rounded(), better="the default is better", worse="the default is worse")
    return (
        f"- default against {against}: better in {paired.wins} of {paired.cells} cells, {paired.difference:+.1f} "
        f"points on average over {runs} of runs; {claim}"
    )


def _origin(origin: dict[str, Any]) -> str:
    systems = {
        SETFIT if name == SETFIT else "masker": ", ".join(f"{package} {number}" for package, number in versions.items())
        for name, versions in origin["systems"].items()
    }
    versions = "; ".join(f"{name} with {packages}" for name, packages in systems.items())
    return (
        f"\n{origin['machine']}, Python {origin['python']}, {origin['threads']} threads, SetFit "
        f"{origin['max_steps']} steps, seeds {', '.join(map(str, origin['seeds']))}; {versions}.\n"
    )
