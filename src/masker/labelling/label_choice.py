"""Texts whose labels would help most.

Three lists take turns until the budget is spent, each giving its best text that is not nearly one chosen before:

- **threshold**: the p-value is nearest to the false-alarm rate, so the model is least sure whether the text is known;
- **classes**: accepted, but the two best classes are nearly equally probable;
- **group**: rejected, and nearest to the middle of a group that ``masker discover`` would find; the largest groups
  first, one text of each, then the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from masker.detection.detector import Judgement
from masker.discovery.discovering import DiscoverySettings, FoundGroups, discover_groups
from masker.discovery.text_space import TextSpace, Vectors
from masker.discovery.text_store import TextStore
from masker.errors import DataError
from masker.model import Model

#: Texts with a higher cosine say the same.
NEARLY_THE_SAME = 0.95
#: Candidates of each list, in multiples of the budget: some are left out as nearly the same.
CANDIDATES = 10
THRESHOLD, CLASSES, GROUP = "threshold", "classes", "group"


@dataclass(frozen=True)
class Suggestion:
    """A text to label, and why.

    Attributes:
        text, pair: The text.
        reason: The list that it is from.
        label: What the model would answer, or the name of its group.
        confidence, p_value: Of the model's answer.
        is_ood: Whether the model rejects it.
    """

    text: str
    pair: str | None
    reason: str
    label: Any
    confidence: float
    p_value: float
    is_ood: bool


def describe_judged(judged: Judgement, place: int) -> dict[str, Any]:
    """What the choice needs to know of a text, from the judgement of its chunk; goes into its record."""
    best = np.sort(judged.probabilities[place])[::-1]
    return {
        "confidence": float(best[0]),
        "margin": float(best[0] - best[1]) if len(best) > 1 else 1.0,
        "p_value": float(judged.p_values[place]),
        "is_ood": bool(judged.rejected[place]),
    }


def choose_texts(model: Model, store: TextStore, budget: int, settings: DiscoverySettings) -> list[Suggestion]:
    """Choose at most ``budget`` texts of a store whose records :func:`describe_judged` has filled.

    Raises:
        DataError: When the store is empty.
    """
    if not len(store):
        raise DataError("there is no text to choose from; give texts without labels")
    columns: dict[str, list[Any]] = {name: [] for name in ("p_value", "margin", "is_ood")}
    for chunk in store.chunks():
        for name, column in columns.items():
            column += [record[name] for record in chunk.records]
    rejected = np.array(columns["is_ood"], dtype=bool)
    rate = max(model.require_detector("review").calibration.false_alarm_rate, 1e-6)
    doubt = np.abs(np.log(np.array(columns["p_value"]) / rate))
    margin = np.where(rejected, np.inf, np.array(columns["margin"]))
    most = CANDIDATES * budget
    found, names = _grouped(model, store, rejected, settings)
    lists = {
        THRESHOLD: np.argsort(doubt, kind="stable")[:most].tolist(),
        CLASSES: [row for row in np.argsort(margin, kind="stable")[:most].tolist() if np.isfinite(margin[row])],
        GROUP: found[:most],
    }
    wanted = sorted({row for rows in lists.values() for row in rows})
    stored = store.take(wanted)
    place = {row: number for number, row in enumerate(wanted)}
    turns = [(reason, place[row]) for reason, row in _in_turns(lists)]
    chosen = without_near_duplicates(turns, stored.vectors, budget)
    return [
        Suggestion(
            record["text"],
            record.get("text_pair"),
            reason,
            names.get(wanted[number], record["label"]),
            record["confidence"],
            record["p_value"],
            record["is_ood"],
        )
        for reason, number in chosen
        for record in [stored.records[number]]
    ]


def without_near_duplicates(turns: Sequence[tuple[str, int]], vectors: Vectors, budget: int) -> list[tuple[str, int]]:
    """The first texts, by reason and number among the (N, H) vectors, that are not nearly one before them."""
    chosen: list[tuple[str, int]] = []
    taken = np.empty((0, vectors.shape[1]), dtype=np.float32)
    for reason, number in turns:
        if len(chosen) == budget:
            break
        if len(taken) and float((taken @ vectors[number]).max()) > NEARLY_THE_SAME:
            continue
        chosen.append((reason, number))
        taken = np.vstack([taken, vectors[number]])
    return chosen


def _in_turns(lists: dict[str, list[int]]) -> Iterator[tuple[str, int]]:
    for row in zip_longest(*lists.values()):
        yield from ((reason, number) for reason, number in zip(lists, row, strict=True) if number is not None)


def _grouped(
    model: Model, store: TextStore, rejected: Any, settings: DiscoverySettings
) -> tuple[list[int], dict[int, str]]:
    """Rejected texts, from the middle of the groups outwards, and the names of their groups."""
    numbers = np.flatnonzero(rejected)
    if len(numbers) > settings.sample:
        numbers = np.sort(np.random.default_rng(settings.seed).choice(numbers, settings.sample, replace=False))
    if not len(numbers):
        return [], {}
    with TextStore() as part:
        part.add(*store.take(numbers.tolist()))
        groups: FoundGroups = discover_groups(model, part, settings)
        stored = part.sample(settings.sample, settings.seed)[0].vectors
    vectors = TextSpace.of(model).telling_part(stored)
    members = []
    for place, centre in enumerate(groups.grouping.centres):
        rows = np.flatnonzero(groups.labels == place)
        members.append([int(numbers[row]) for row in rows[np.argsort(-(vectors[rows] @ centre), kind="stable")]])
    order = [row for rank in zip_longest(*members) for row in rank if row is not None]
    return order, {row: groups.groups[place].name for place, rows in enumerate(members) for row in rows}
