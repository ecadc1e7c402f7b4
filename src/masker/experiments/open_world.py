"""``masker discover``, ``extend`` and ``review`` on a corpus of which a model knows some classes.

Each part has a function that takes models, opened, and the texts of an :class:`OpenWorld`. Shares are rounded, so that
a summary can be read and committed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.discovery import DiscoverySettings
from masker.discovery.discovering import distinct_texts, store_texts
from masker.discovery.grouping import find_groups
from masker.discovery.text_space import TextSpace
from masker.discovery.text_store import TextStore
from masker.documents import Documents, subsample
from masker.experiments.read_once import ReadOnce
from masker.experiments.recipe_parts import DiscoverPart, ReviewPart
from masker.extension import extend_model
from masker.inference.torch_backend import encoder_vectors
from masker.labelling import choose_texts
from masker.labelling.label_choice import describe_judged
from masker.metrics import auroc, clustering_report
from masker.model import Model
from masker.modeling.backbone import load_encoder, resolve_backbone

Figures = dict[str, Any]


@dataclass(frozen=True)
class OpenWorld:
    """Texts of classes that a model knows, and of others."""

    known: Documents  # held-out texts of the classes that the model was trained on
    unseen: Documents  # held-out texts of the other classes
    foreign: Documents  # of another corpus; empty for groups
    labelled: Documents  # with labels that can be had: to extend by, or to choose from; empty for groups
    seed: int

    @property
    def texts(self) -> list[str]:
        """Held-out texts of all classes, known ones first."""
        return [*self.known.texts, *self.unseen.texts]

    @property
    def truth(self) -> npt.NDArray[Any]:
        return np.array([*(self.known.labels or []), *(self.unseen.labels or [])])


def measure_part(part: str, models: Sequence[Model], world: OpenWorld, options: dict[str, Any]) -> Figures:
    """The figures of a part; only ``extend`` has a second model, trained on the texts that the first is extended by."""
    return {"part": part, **_PARTS[part](models, world, options)}


def _discover(models: Sequence[Model], world: OpenWorld, options: dict[str, Any]) -> Figures:
    """All texts of unseen classes, grouped; and k-means with the true number of classes before any training."""
    [model], wanted = models, DiscoverPart.model_validate(options)
    truth, space = np.array(world.unseen.labels), TextSpace.of(model)
    start = time.process_time()
    vectors = space.telling_part(space.vectors(model.outputs(world.unseen.texts, kinds=space.kinds)))
    first, copies = distinct_texts([{"text": text} for text in world.unseen.texts])
    found = find_groups(vectors[first], wanted.most_groups, world.seed)
    labels = found.labels[copies]
    took = time.process_time() - start
    return {
        "texts": len(truth),
        "classes": len(set(truth)),
        "groups": len(found.centres),
        "in_no_group": round(float((labels < 0).mean()), 6),
        "processor_seconds": round(took, 2),
        "masker": _rounded(clustering_report(truth, labels)),
        "k_means": _k_means(model, world.unseen.texts, truth, wanted.k_means_runs),
    }


def _k_means(model: Model, texts: list[str], truth: npt.NDArray[Any], runs: int) -> dict[str, float]:
    """The mean over several runs, which differ in where they start."""
    from sklearn.cluster import KMeans

    encoder = load_encoder(resolve_backbone(model.settings.model.backbone))
    frozen = encoder_vectors(encoder, model.tokenizer, model.encode(texts))
    classes = len(set(truth))
    reports = [
        clustering_report(truth, KMeans(classes, n_init=10, random_state=seed).fit_predict(frozen))
        for seed in range(runs)
    ]
    return _rounded({name: float(np.mean([report[name] for report in reports])) for name in reports[0]})


def _extend(models: Sequence[Model], world: OpenWorld, options: dict[str, Any]) -> Figures:
    """A few texts of each unseen class: extended by them, and trained anew on everything."""
    model, retrained = models
    before = ReadOnce(model)
    start = time.process_time()
    made = extend_model(model, world.labelled.texts, world.labelled.labels or [])
    took = time.process_time() - start
    return {
        "new_texts": len(world.labelled),
        "old_classes": len(model.classes),
        "new_classes": len(made.new_classes),
        "processor_seconds": round(took, 2),
        "before": told_apart(before, world, model.classes),
        "extended": told_apart(before.extended(made.model), world, model.classes),
        "retrained": told_apart(retrained, world, model.classes),
    }


def told_apart(model: Model | ReadOnce, world: OpenWorld, old_classes: Sequence[str]) -> dict[str, float | None]:
    """Accuracy on old and new classes, how many of their texts are rejected, and how foreign text is told from them.

    ``among_old`` is the accuracy on old classes if no other may be answered: what is lost beside it, new classes took.
    ``rejected_known`` and ``auroc`` are over the texts of all classes that the model has; new classes are those that
    it has beside the old ones.
    """
    truth, classes = world.truth, np.array(model.classes)
    judged, foreign = model.judge(world.texts), model.judge(world.foreign.texts)
    old, reachable = np.isin(truth, old_classes), np.isin(truth, classes)
    right = classes[judged.predicted] == truth
    among = np.isin(classes, old_classes)
    best = classes[among][judged.probabilities[:, among].argmax(axis=1)]
    found: dict[str, float | None] = {"among_old": float((best == truth)[old].mean())}
    found["rejected_known"] = float(judged.rejected[reachable].mean())
    for name, rows in (("old", old), ("new", ~old & reachable)):
        found[f"accuracy_{name}"] = float(right[rows].mean()) if rows.any() else None
        found[f"rejected_{name}"] = float(judged.rejected[rows].mean()) if rows.any() else None
    found["rejected_foreign"] = float(foreign.rejected.mean())
    found["auroc"] = float(auroc(judged.scores[reachable], foreign.scores))
    return {name: None if value is None else round(value, 6) for name, value in found.items()}


def _review(models: Sequence[Model], world: OpenWorld, options: dict[str, Any]) -> Figures:
    """Labels for texts that were chosen, and for as many at random; the model is extended by them."""
    [model], wanted = models, ReviewPart.model_validate(options)
    before = ReadOnce(model)
    pool = subsample(world.labelled, wanted.pool, world.seed)
    found: Figures = {"pool": len(pool), "before": _recognised(before, world), "budgets": {}}
    with TextStore() as store:
        store_texts(model, [pool.texts], store, only_rejected=False, describe=describe_judged)
        for budget in wanted.budgets:
            settings = DiscoverySettings(seed=world.seed)
            chosen = [choice.text for choice in choose_texts(model, store, budget, settings)]
            drawn = subsample(pool, len(chosen), world.seed + budget).texts
            found["budgets"][str(budget)] = {
                "chosen": len(chosen),
                "review": _learnt(before, chosen, pool, world),
                "random": _learnt(before, drawn, pool, world),
            }
    return found


def _learnt(before: ReadOnce, texts: list[str], pool: Documents, world: OpenWorld) -> Figures:
    """What the model is worth once these texts of the pool have their labels."""
    labels = dict(zip(pool.texts, pool.labels or [], strict=True))
    made = extend_model(before.model, texts, [labels[text] for text in texts])
    return {"new_classes": len(made.new_classes), **_recognised(before.extended(made.model), world)}


def _recognised(model: ReadOnce, world: OpenWorld) -> dict[str, float]:
    """Accuracy on the texts of all classes, known to the model or not, and AUROC of these against foreign texts."""
    judged, foreign = model.judge(world.texts), model.judge(world.foreign.texts)
    right = np.array(model.classes)[judged.predicted] == world.truth
    return _rounded({"accuracy": float(right.mean()), "auroc": float(auroc(judged.scores, foreign.scores))})


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in figures.items()}


_PARTS: dict[str, Callable[[Sequence[Model], OpenWorld, dict[str, Any]], Figures]] = {
    "discover": _discover,
    "extend": _extend,
    "review": _review,
}
