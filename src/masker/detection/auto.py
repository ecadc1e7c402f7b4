"""``auto``: a combination of scores that needs no out-of-distribution text.

Two scores lead, and their surprises are added: the highest logit, which knows the classes, and the distance to the
nearest training document, which knows what was there. Where one is blind the other mostly is not: among many classes
logits are better, with two or three they tell little; foreign text often has a high logit but no near neighbour.

Guards join them if they help to tell held-out documents from their stand-ins (:mod:`masker.detection.stand_ins`):
distances that are silent about most in-distribution documents. One is in the middle layers, which reflect style and
word use rather than classes. The other is to the classes of the last layer, which notices text that lies between them;
not after cross-fitting, as the classes of averaged networks are wider than those of the networks that judged the
held-out documents.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.config import Settings
from masker.detection.arrays import Floats, Labels
from masker.detection.score import AUTO, Score, build_score
from masker.detection.statistics import Statistics
from masker.detection.surprise import LEAST_TAIL, JointSurprise
from masker.inference.outputs import Outputs
from masker.metrics import auroc
from masker.registry import SCORES

_log = logging.getLogger("masker")

LEADS = ("max-logit", "knn")
#: The guard in the last layer, and those in the middle layers in order of preference if figures are equal.
CLASS_GUARD = "scaled-mahalanobis"
GUARDS = ("scaled-mahalanobis-middle", "mahalanobis-middle", "knn-middle")
CANDIDATES = (*LEADS, CLASS_GUARD, *GUARDS)
#: A guard counts beyond the surprise that one in ten in-distribution documents causes; in the last layer, one in four.
GUARD_OFFSET = math.log(10.0)
CLASS_GUARD_OFFSET = math.log(4.0)
#: Figures closer than this are equal.
MARGIN = 0.01
#: With fewer held-out documents there is no guard.
MIN_DOCUMENTS_TO_CHOOSE = 20

#: AUROC of a score against each kind of stand-in.
Aurocs = dict[str, float]


@dataclass(frozen=True)
class Combination:
    """What ``auto`` consists of."""

    offsets: dict[str, float]  # the member scores, with the surprise beyond which each counts
    references: dict[str, Floats]  # (m,) scores that each member gives the reference documents
    evidence: dict[str, Any] = field(default_factory=dict)  # the figures behind the choice, JSON-ready
    least_tail: int = LEAST_TAIL  # reference documents that the tail of a surprise is fitted to, at least

    def to_manifest(self) -> dict[str, Any]:
        """What ``masker.json`` keeps of it; the references are tensors."""
        return {"offsets": self.offsets, "evidence": self.evidence, "least_tail": self.least_tail}

    def joint(self) -> JointSurprise:
        """The sum of the members' surprises."""
        return JointSurprise(self.references, self.offsets, self.least_tail)


class JointScore(Score):
    """The sum of the members' surprises (:class:`masker.detection.surprise.JointSurprise`)."""

    name = AUTO

    def __init__(self, members: Sequence[Score], combination: Combination) -> None:
        self._members = members
        self._joint = combination.joint()
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
    averaged: bool = False  # whether several networks said it, of which the model is the mean

    @classmethod
    def joined(cls, parts: Sequence[Observed]) -> Observed:
        """The observations of several networks, each on documents of its own."""
        names, views = list(parts[0].scores), list(parts[0].stand_ins)
        return cls(
            np.concatenate([part.logits for part in parts]),
            np.concatenate([part.labels for part in parts]),
            {name: np.concatenate([part.scores[name] for part in parts]) for name in names},
            {
                view: {name: np.concatenate([part.stand_ins[view][name] for part in parts]) for name in CANDIDATES}
                for view in views
            },
            averaged=True,
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
    )


def choose_combination(observed: Observed) -> Combination:
    """The leads and, if they help, guards."""
    references = observed.scores
    evidence = {
        name: {view: _auroc(references[name], scores[name]) for view, scores in observed.stand_ins.items()}
        for name in CANDIDATES
    }
    leads = dict.fromkeys(LEADS, 0.0)
    candidates = [leads]
    if len(observed.labels) >= MIN_DOCUMENTS_TO_CHOOSE:
        guard = _first_of_the_best({name: _mean(evidence[name]) for name in GUARDS})
        candidates.insert(0, {**leads, guard: GUARD_OFFSET})
        if not observed.averaged:
            candidates.insert(0, {**leads, CLASS_GUARD: CLASS_GUARD_OFFSET, guard: GUARD_OFFSET})
    combinations = {" + ".join(offsets): offsets for offsets in candidates}
    for name, offsets in combinations.items():
        joint = JointSurprise({member: references[member] for member in offsets}, offsets)
        held_out = joint(references)
        evidence[name] = {view: _auroc(held_out, joint(scores)) for view, scores in observed.stand_ins.items()}
    best = _first_of_the_best({name: _mean(evidence[name]) for name in combinations})
    _log.info("score auto: %s", best)
    offsets = combinations[best]
    return Combination(offsets, {member: references[member] for member in offsets}, evidence)


def _auroc(held_out: Floats, stand_ins: Floats) -> float:
    return round(auroc(held_out, stand_ins), 4)


def _mean(aurocs: Aurocs) -> float:
    return float(np.mean(list(aurocs.values())))


def _first_of_the_best(figures: dict[str, float]) -> str:
    best = max(figures.values())
    return next(name for name, value in figures.items() if value >= best - MARGIN)
