"""Choosing what ``auto`` is made of, without any out-of-distribution text.

``auto`` has a lead, a score of the last layer, and a guard, a distance of the middle layers (which see style and word
use rather than classes). Both have to prove themselves on stand-ins for out-of-distribution text:

* views of held-out documents (:mod:`masker.detection.stand_ins`), for all scores;
* a class left out: its held-out documents against those of the other classes, with statistics of the others alone. Only
  distances are judged by that. The head was trained on the class: that it is none of the others is nothing a logit has
  to find out.

The figure of a score is the mean of its AUROCs.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from masker.config import Settings
from masker.detection.joint import JointScore, Recipe
from masker.detection.network_scores import LOGIT_SCORES, feature_kinds, make_score
from masker.detection.score import Floats, Labels, Score
from masker.detection.statistics import Known
from masker.inference.outputs import Outputs
from masker.metrics import auroc

_log = logging.getLogger("masker")

#: What may lead, in order of preference where figures are equal.
LEADS = ("scaled-mahalanobis", "mahalanobis", "relative-mahalanobis", "knn", "max-prob", "energy", "entropy")
#: What may guard, likewise.
GUARDS = ("scaled-mahalanobis-middle", "mahalanobis-middle", "knn-middle")
CANDIDATES = (*LEADS, *GUARDS)
#: A guard counts beyond the surprise that one of so many in-distribution documents causes.
GUARD_OFFSET = math.log(20.0)
#: Figures closer than this are equal: two ways to join the same scores differ in little else.
MARGIN = 0.01
#: The same for distances, which differ in much: with a hundred documents an AUROC of 0.95 has an error of 0.02.
DISTANCE_MARGIN = 0.02
#: Held-out documents below which nothing is chosen.
LEAST_DOCUMENTS = 20
#: Classes that are left out in turn, those with most held-out documents.
LEFT_OUT = 8


def choose(
    known: Known, held_out: Outputs, labels: Labels, stand_ins: dict[str, Outputs], settings: Settings
) -> Recipe:
    """Choose a lead and, if it helps, a guard.

    Args:
        known: Statistics of the training documents.
        held_out: Outputs of held-out documents.
        labels: (N,) their classes.
        stand_ins: Outputs of documents that have to look out-of-distribution, by name.
        settings: All settings.
    """

    def make(name: str, of: Known = known) -> Score:
        return make_score(name, of, settings.model.head, settings.detection)

    scores = {name: make(name) for name in CANDIDATES}
    references = {name: score.ood_score(held_out) for name, score in scores.items()}
    by_view = {name: views_auroc(score, references[name], stand_ins) for name, score in scores.items()}
    distances = [name for name in LEADS if name not in LOGIT_SCORES]
    by_class = left_out_auroc(known, held_out, labels, distances, make)
    evidence = {
        name: {**by_view[name], **({"left-out class": by_class[name]} if name in by_class else {})}
        for name in CANDIDATES
    }

    def views(name: str) -> float:
        return float(np.mean(list(by_view[name].values())))

    near = _first_of_the_best(
        {name: float(np.mean(list(evidence[name].values()))) for name in distances}, DISTANCE_MARGIN
    )
    lead = _first_of_the_best({name: views(name) for name in LEADS if name == near or name in LOGIT_SCORES})
    guard = _first_of_the_best({name: views(name) for name in GUARDS})
    # Only classes that were left out can speak for the lead alone among related texts. Without them, as with two
    # classes, the guard counts from the start if that tells the stand-ins better.
    ways = {f"{lead} + {guard}": GUARD_OFFSET, **({} if by_class else {f"{lead} + {guard} in full": 0.0})}
    joint = {
        name: Recipe({lead: 0.0, guard: offset}, {member: references[member] for member in (lead, guard)})
        for name, offset in ways.items()
    }
    for name, recipe in joint.items():
        together = JointScore([scores[lead], scores[guard]], recipe)
        by_view[name] = evidence[name] = views_auroc(together, together.ood_score(held_out), stand_ins)
    no_worse = {name: views(name) for name in joint if views(name) >= views(lead)}
    alone = Recipe({lead: 0.0}, {lead: references[lead]})
    chosen = replace(joint[_first_of_the_best(no_worse)] if no_worse else alone, evidence=evidence)
    _log.info("score auto: %s", " guarded by ".join(chosen.offsets))
    return chosen


def views_auroc(score: Score, held_out: Floats, stand_ins: dict[str, Outputs]) -> dict[str, float]:
    """How well a score tells held-out documents from each kind of stand-in."""
    return {name: round(auroc(held_out, score.ood_score(outputs)), 4) for name, outputs in stand_ins.items()}


def left_out_auroc(
    known: Known, held_out: Outputs, labels: Labels, names: list[str], make: Callable[[str, Known], Score]
) -> dict[str, float]:
    """How well distances tell a class from the others that they know; the mean over classes left out in turn.

    Returns:
        The figure of each score; empty where no class can be left out.
    """
    n_classes = held_out.logits.shape[1]
    there = np.bincount(known.bank_labels, minlength=n_classes)
    counts = np.bincount(labels, minlength=n_classes)
    usable = [label for label in np.argsort(-counts, kind="stable") if 0 < counts[label] < len(labels) and there[label]]
    found: dict[str, list[float]] = {name: [] for name in names}
    kinds = sorted({kind for name in names for kind in feature_kinds(name)})
    for label in usable[:LEFT_OUT] if n_classes > 2 else []:
        others = known.without(int(label), kinds)
        inside = labels != label
        for name in names:
            scores = make(name, others).ood_score(held_out)
            found[name].append(auroc(scores[inside], scores[~inside]))
    return {name: round(float(np.mean(values)), 4) for name, values in found.items() if values}


def _first_of_the_best(figures: dict[str, float], margin: float = MARGIN) -> str:
    best = max(figures.values())
    return next(name for name, value in figures.items() if value >= best - margin)
