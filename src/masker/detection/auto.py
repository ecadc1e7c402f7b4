"""``auto``: a combination of scores, chosen without any out-of-distribution text.

The combination has a lead, a score of the last layer, and possibly a guard, a distance in the middle layers (which
reflect style and word use rather than classes). Candidates are compared on stand-ins for out-of-distribution text:

* views of held-out documents (:mod:`masker.detection.stand_ins`), for all scores;
* a left-out class: its held-out documents against those of the other classes, with statistics of the other classes
  only. This applies to distances only. The head was trained on the class, so its logits would already know it.

The figure of a score is the mean of its AUROCs.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.config import Settings
from masker.detection.arrays import Floats, Labels
from masker.detection.score import AUTO, Score, build_score
from masker.detection.statistics import Statistics
from masker.detection.surprise import JointSurprise
from masker.inference.outputs import Outputs
from masker.metrics import auroc
from masker.registry import SCORES

_log = logging.getLogger("masker")

#: Distances that may lead, in order of preference if figures are equal.
DISTANCE_LEADS = ("scaled-mahalanobis", "mahalanobis", "relative-mahalanobis", "knn")
#: Scores of logits that may lead, likewise; the chosen distance is preferred to all of them.
LOGIT_LEADS = ("max-prob", "energy", "entropy")
#: Distances that may guard, likewise.
GUARDS = ("scaled-mahalanobis-middle", "mahalanobis-middle", "knn-middle")
CANDIDATES = (*DISTANCE_LEADS, *LOGIT_LEADS, *GUARDS)
#: A guard counts beyond the surprise that one in twenty in-distribution documents causes.
GUARD_OFFSET = math.log(20.0)
#: Figures closer than this are equal: two combinations of the same scores hardly differ otherwise.
MARGIN = 0.01
#: The same for distances, which differ more: with a hundred documents an AUROC of 0.95 has an error of 0.02.
DISTANCE_MARGIN = 0.02
#: With fewer held-out documents nothing is chosen.
MIN_DOCUMENTS_TO_CHOOSE = 20
#: Number of classes that are left out in turn, those with most held-out documents.
LEFT_OUT = 8

#: AUROC of a score on each kind of stand-in.
Evidence = dict[str, float]


@dataclass(frozen=True)
class Combination:
    """What ``auto`` consists of."""

    offsets: dict[str, float]  # the member scores, with the surprise beyond which each counts
    references: dict[str, Floats]  # (m,) scores that each member gives the reference documents
    evidence: dict[str, Any] = field(default_factory=dict)  # the figures behind the choice, JSON-ready


class JointScore(Score):
    """The sum of the members' surprises (:class:`masker.detection.surprise.JointSurprise`)."""

    name = AUTO

    def __init__(self, members: Sequence[Score], combination: Combination) -> None:
        self._members = members
        self._joint = JointSurprise(combination.references, combination.offsets)
        self.features = tuple(dict.fromkeys(kind for member in members for kind in member.features))

    def ood_score(self, outputs: Outputs) -> Floats:
        return self._joint({member.name: member.ood_score(outputs) for member in self._members})


def candidate_features() -> tuple[str, ...]:
    """The kinds of features that the candidates read."""
    return tuple(dict.fromkeys(kind for name in CANDIDATES for kind in SCORES.get(name).features))


@dataclass(frozen=True)
class Observed:
    """What a network's candidate scores say of documents that it was not trained on."""

    logits: npt.NDArray[np.float32]  # (N, C)
    labels: Labels  # (N,)
    scores: dict[str, Floats]  # (N,) by score
    stand_ins: dict[str, dict[str, Floats]] = field(default_factory=dict)  # by stand-in and score
    left_out: dict[str, float] = field(default_factory=dict)  # AUROC against a left-out class, by distance

    @classmethod
    def joined(cls, parts: Sequence[Observed]) -> Observed:
        """The observations of several networks, each on documents of its own."""
        names, views, distances = (list(kind) for kind in (parts[0].scores, parts[0].stand_ins, parts[0].left_out))
        # A fold may have no class to leave out.
        shared = [name for name in distances if all(name in part.left_out for part in parts)]
        return cls(
            np.concatenate([part.logits for part in parts]),
            np.concatenate([part.labels for part in parts]),
            {name: np.concatenate([part.scores[name] for part in parts]) for name in names},
            {
                view: {name: np.concatenate([part.stand_ins[view][name] for part in parts]) for name in CANDIDATES}
                for view in views
            },
            {name: round(float(np.mean([part.left_out[name] for part in parts])), 4) for name in shared},
        )


def observe_candidates(
    statistics: Statistics, held_out: Outputs, labels: Labels, stand_ins: Mapping[str, Outputs], settings: Settings
) -> Observed:
    """Score held-out documents with (N,) labels and their stand-ins by name with all candidates."""
    scores = {name: build_score(name, statistics, settings) for name in CANDIDATES}
    return Observed(
        held_out.logits,
        labels,
        {name: score.ood_score(held_out) for name, score in scores.items()},
        {view: {name: scores[name].ood_score(outputs) for name in CANDIDATES} for view, outputs in stand_ins.items()},
        left_out_auroc(statistics, held_out, labels, DISTANCE_LEADS, settings),
    )


def choose_combination(observed: Observed) -> Combination:
    """Choose a lead and, if it helps, a guard."""
    references, left_out = observed.scores, observed.left_out
    views = {name: _views_auroc(references[name], observed.stand_ins, name) for name in CANDIDATES}
    evidence = {
        name: {**views[name], **({"left-out class": left_out[name]} if name in left_out else {})} for name in CANDIDATES
    }
    distance = _first_of_the_best({name: _mean(evidence[name]) for name in DISTANCE_LEADS}, DISTANCE_MARGIN)
    lead = _first_of_the_best({name: _mean(views[name]) for name in (distance, *LOGIT_LEADS)})
    guard = _first_of_the_best({name: _mean(views[name]) for name in GUARDS})
    # Only left-out classes can show that the lead alone is better among related texts. Without them, as with two
    # classes, the guard counts in full if that separates the stand-ins better.
    offsets = {f"{lead} + {guard}": GUARD_OFFSET, **({} if left_out else {f"{lead} + {guard} in full": 0.0})}
    guarded = {
        name: Combination({lead: 0.0, guard: offset}, {member: references[member] for member in (lead, guard)})
        for name, offset in offsets.items()
    }
    for name, combination in guarded.items():
        joint = JointSurprise(combination.references, combination.offsets)
        evidence[name] = {
            view: round(auroc(joint(references), joint(scores)), 4) for view, scores in observed.stand_ins.items()
        }
    no_worse = {name: _mean(evidence[name]) for name in guarded if _mean(evidence[name]) >= _mean(views[lead])}
    alone = Combination({lead: 0.0}, {lead: references[lead]})
    chosen = replace(guarded[_first_of_the_best(no_worse)] if no_worse else alone, evidence=evidence)
    _log.info("score auto: %s", " guarded by ".join(chosen.offsets))
    return chosen


def _views_auroc(held_out: Floats, stand_ins: Mapping[str, Mapping[str, Floats]], name: str) -> Evidence:
    """How well a score separates held-out documents from each kind of stand-in."""
    return {view: round(auroc(held_out, scores[name]), 4) for view, scores in stand_ins.items()}


def left_out_auroc(
    statistics: Statistics, held_out: Outputs, labels: Labels, names: Sequence[str], settings: Settings
) -> Evidence:
    """How well distances separate a left-out class from the classes they know, averaged over left-out classes.

    Empty if no class can be left out.
    """
    n_classes = held_out.logits.shape[1]
    in_bank = np.bincount(statistics.bank_labels, minlength=n_classes)
    counts = np.bincount(labels, minlength=n_classes)
    usable = [
        label for label in np.argsort(-counts, kind="stable") if 0 < counts[label] < len(labels) and in_bank[label]
    ]
    found: dict[str, list[float]] = {name: [] for name in names}
    kinds = sorted({kind for name in names for kind in SCORES.get(name).features})
    for label in usable[:LEFT_OUT] if n_classes > 2 else []:
        others = statistics.without(int(label), kinds)
        inside = labels != label
        for name in names:
            scores = build_score(name, others, settings).ood_score(held_out)
            found[name].append(auroc(scores[inside], scores[~inside]))
    return {name: round(float(np.mean(values)), 4) for name, values in found.items() if values}


def _mean(evidence: Evidence) -> float:
    return float(np.mean(list(evidence.values())))


def _first_of_the_best(figures: dict[str, float], margin: float = MARGIN) -> str:
    best = max(figures.values())
    return next(name for name, value in figures.items() if value >= best - margin)
