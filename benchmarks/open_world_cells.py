"""What is measured of one corpus, with some of its classes known."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.documents import Documents

WORK = Path(__file__).parent.parent / "runs" / "open-world"
#: Training texts and tokens of a text, for minutes on two cores.
CORPORA = {"hwu64": (1200, 256), "snips": (700, 256), "atis": (700, 256), "20newsgroups": (600, 128)}
KNOWN = (0.25, 0.5, 0.75)
MOST_TEXTS = 1500
MOST_GROUPS = 100
NEW_TEXTS = 10  # of each new class
BUDGETS = (50, 100, 200)
POOL = 1500
FOREIGN = "sst2:test"


@dataclass(frozen=True)
class Cell:
    """A corpus, the share of its classes that are known, and the seed that draws them."""

    corpus: str
    share: float
    seed: int

    @property
    def name(self) -> str:
        return f"{self.corpus} {self.share:g} {self.seed}"


@dataclass(frozen=True)
class Split:
    train: Documents  # known classes, what the model is trained on
    rest: Documents  # known and unknown classes, not trained on
    test: Documents  # known and unknown classes
    known: set[str]


def split_of(cell: Cell) -> Split:
    from masker.config import DataSettings
    from masker.documents import detection_split, read_documents

    settings = DataSettings(skip_invalid=True)
    train, test = (read_documents(f"{cell.corpus}:{part}", settings, require_labels=True) for part in ("train", "test"))
    split = detection_split(train, test, cell.share, cell.seed)
    known = set(split.train.class_names)
    inside = [row for row, label in enumerate(train.labels or []) if label in known]
    order = np.random.default_rng(cell.seed).permutation(inside)
    count = CORPORA[cell.corpus][0]
    other = [row for row, label in enumerate(train.labels or []) if label not in known]
    rest = np.random.default_rng(cell.seed).permutation([*order[count:], *other]).tolist()
    return Split(train.take(order[:count].tolist()), train.take(rest), sample(test, MOST_TEXTS, cell.seed), known)


def sample(documents: Documents, most: int, seed: int) -> Documents:
    return documents.take(np.random.default_rng(seed).permutation(len(documents))[:most].tolist())


def fitted(name: str, documents: Documents, cell: Cell) -> Any:
    """A model of the documents, trained once and kept."""
    from masker.config import build_settings
    from masker.model import Model

    folder = WORK / f"{name} {cell.name}".replace(" ", "-")
    if not folder.is_dir():
        settings = build_settings({"model": {"max_length": CORPORA[cell.corpus][1]}, "training": {"seed": cell.seed}})
        work = folder.with_name(f"{folder.name}.partial")
        Model.fit(documents, settings, work).save(folder)
        shutil.rmtree(work, ignore_errors=True)
    return Model.open(folder)


def clustering_accuracy(truth: npt.NDArray[Any], groups: npt.NDArray[np.int64]) -> float:
    """Share of texts in the group that is matched with their class, one to one; noise (below 0) is never right."""
    from scipy.optimize import linear_sum_assignment

    _, rows = np.unique(truth, return_inverse=True)
    inside = groups >= 0
    if not inside.any():
        return 0.0
    table = np.zeros((int(rows.max()) + 1, int(groups.max()) + 1))
    np.add.at(table, (rows[inside], groups[inside]), 1.0)
    matched = linear_sum_assignment(-table)
    return float(table[matched].sum() / len(truth))


def clustering_figures(truth: npt.NDArray[Any], groups: npt.NDArray[np.int64]) -> dict[str, float]:
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    return {
        "accuracy": clustering_accuracy(truth, groups),
        "nmi": float(normalized_mutual_info_score(truth, groups)),
        "ari": float(adjusted_rand_score(truth, groups)),
    }


def discover_cell(cell: Cell) -> dict[str, Any]:
    """Texts of unknown classes: the groups of ``masker discover``, and those of k-means with the true number."""
    from sklearn.cluster import KMeans

    from masker.discovery.grouping import find_groups
    from masker.discovery.text_space import TextSpace
    from masker.inference.torch_backend import encoder_means
    from masker.modeling.backbone import load_backbone

    split = split_of(cell)
    model = fitted("model", split.train, cell)
    unknown = split.test.take([row for row, label in enumerate(split.test.labels or []) if label not in split.known])
    truth, space = np.array(unknown.labels), TextSpace.of(model)
    start = time.process_time()
    found = find_groups(space.vectors(model.outputs(unknown.texts, kinds=space.kinds)), MOST_GROUPS, cell.seed)
    took = time.process_time() - start
    encoder = load_backbone(model.settings.model, model.classes).classifier.base_model
    frozen = encoder_means(encoder, model.tokenizer, model.encode(unknown.texts))
    classes = len(set(truth))
    runs = [
        clustering_figures(truth, KMeans(classes, n_init=10, random_state=seed).fit_predict(frozen))
        for seed in range(3)
    ]
    return {
        "texts": len(unknown),
        "classes": classes,
        "groups": len(found.centres),
        "noise": float((found.labels < 0).mean()),
        "seconds": took,
        "masker": clustering_figures(truth, found.labels),
        "k_means": {name: float(np.mean([run[name] for run in runs])) for name in runs[0]},
    }


def extend_cell(cell: Cell) -> dict[str, Any]:
    """Ten texts of each unknown class: extended in seconds, and trained anew on everything."""
    from masker.extension import extend_model

    split = split_of(cell)
    model = fitted("model", split.train, cell)
    labels = np.array(split.rest.labels)
    rows = [np.flatnonzero(labels == name)[:NEW_TEXTS] for name in sorted(set(labels.tolist()) - split.known)]
    new = split.rest.take(np.concatenate(rows).tolist())
    start = time.process_time()
    made = extend_model(model, new.texts, new.labels or [])
    took = time.process_time() - start
    both = Documents([*split.train.texts, *new.texts], None, [*split.train.labels, *new.labels], "both")  # type: ignore[misc]
    return {
        "new_texts": len(new),
        "new_classes": len(made.new_classes),
        "old_classes": len(model.classes),
        "seconds": took,
        "before": told(model, split),
        "extended": told(made.model, split),
        "retrained": told(fitted("retrained", both, cell), split),
    }


def told(model: Any, split: Split) -> dict[str, float | None]:
    """Accuracy on old and new classes, and how many of their texts are rejected.

    ``among_old`` is the accuracy on old classes if no other may be answered: what is lost beside it, new classes took.
    ``rejected_known`` is over the texts of all classes that the model has.
    """
    truth, classes = np.array(split.test.labels), np.array(model.classes)
    judged, old = model.judge(split.test.texts), np.isin(truth, sorted(split.known))
    right = classes[judged.predicted] == truth
    reachable = np.isin(truth, model.classes)
    among = np.isin(classes, sorted(split.known))
    best = classes[among][judged.probabilities[:, among].argmax(axis=1)]
    found: dict[str, float | None] = {"among_old": float((best == truth)[old].mean())}
    found["rejected_known"] = float(judged.rejected[reachable].mean())
    for name, rows in (("old", old), ("new", ~old & reachable)):
        found[f"accuracy_{name}"] = float(right[rows].mean()) if rows.any() else None
        found[f"rejected_{name}"] = float(judged.rejected[rows].mean()) if rows.any() else None
    return found


def review_cell(cell: Cell) -> dict[str, Any]:
    """Labels for texts that were chosen, and for as many at random: accuracy, and AUROC against another corpus."""
    from masker.config import DataSettings
    from masker.discovery import DiscoverySettings
    from masker.discovery.discovering import store_texts
    from masker.discovery.text_store import TextStore
    from masker.documents import read_documents
    from masker.labelling import choose_texts
    from masker.labelling.label_choice import describe_judged

    split = split_of(cell)
    model = fitted("model", split.train, cell)
    pool = sample(split.rest, POOL, cell.seed)
    foreign = read_documents(FOREIGN, DataSettings(), require_labels=None).texts[:500]
    truth = dict(zip(pool.texts, pool.labels or [], strict=True))
    found: dict[str, Any] = {"pool": len(pool), "before": judged_figures(model, split, foreign), "budgets": {}}
    with TextStore() as store:
        store_texts(model, [pool.texts], store, only_rejected=False, describe=describe_judged)
        for budget in BUDGETS:
            chosen = [one.text for one in choose_texts(model, store, budget, DiscoverySettings(seed=cell.seed))]
            drawn = sample(pool, len(chosen), cell.seed + budget).texts
            found["budgets"][str(budget)] = {
                "chosen": len(chosen),
                "review": learnt_figures(model, chosen, truth, split, foreign),
                "random": learnt_figures(model, drawn, truth, split, foreign),
            }
    return found


def learnt_figures(
    model: Any, texts: list[str], truth: dict[str, Any], split: Split, foreign: list[str]
) -> dict[str, float]:
    from masker.extension import extend_model

    labels = [truth[text] for text in texts]
    made = extend_model(model, texts, labels)
    return {"new_classes": len(made.new_classes), **judged_figures(made.model, split, foreign)}


def judged_figures(model: Any, split: Split, foreign: list[str]) -> dict[str, float]:
    """Accuracy on the texts of all classes, known to the model or not, and AUROC against foreign texts."""
    from masker.metrics import auroc

    truth, judged = np.array(split.test.labels), model.judge(split.test.texts)
    right = np.array(model.classes)[judged.predicted] == truth
    return {"accuracy": float(right.mean()), "auroc": float(auroc(judged.scores, model.judge(foreign).scores))}
