"""Documents in the plane, with their texts: known beside foreign ones, those of one domain beside those of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from masker.analysis.plane import place_in_plane, silhouette
from masker.analysis.report_data import DocumentMap, MapPoint
from masker.analysis.risky_texts import quoted
from masker.documents import Documents, subsample
from masker.documents.texts import texts_of
from masker.model import Model
from masker.registry import METHODS

#: Most documents of a set: more dots hide each other.
MAP_DOCUMENTS = 400
#: Classes that have a colour of their own in a map of one set.
COLOURED_CLASSES = 7
OTHER_CLASSES = "other classes"
#: Characters of a text that are shown on hover.
HOVER = 160


def map_documents(model: Model, title: str, sets: Mapping[str, Documents], *, with_texts: bool) -> DocumentMap:
    """The embeddings of the sets in one plane. The documents of a single set are grouped by class."""
    seed = model.settings.training.seed
    samples = {name: subsample(documents, MAP_DOCUMENTS, seed) for name, documents in sets.items()}
    parts = [_embeddings(model, documents) for documents in samples.values()]
    features = _stacked(parts)
    plane = place_in_plane(features, seed=seed)
    groups = [_groups(name, documents, alone=len(samples) == 1) for name, documents in samples.items()]
    names = [name for part in groups for name in part]
    order = list(sets) if len(sets) > 1 else _by_size(names)
    labels = [label for documents in samples.values() for label in _labels(documents)]
    texts = [quoted(documents, row, HOVER) for documents in samples.values() for row in range(len(documents))]
    points = [
        MapPoint(round(float(x), 2), round(float(y), 2), group, label, text if with_texts else None)
        for (x, y), group, label, text in zip(plane, names, labels, texts, strict=True)
    ]
    numbers = np.array([order.index(name) for name in names])
    return DocumentMap(title, order, points, silhouette(features, numbers) if len(order) > 1 else None)


def _embeddings(model: Model, documents: Documents) -> Any:
    """(N, H) what the head of the model reads."""
    kind = "cls" if METHODS.get(model.settings.training.method).fine_tuned else "vectors"
    return model.outputs(texts_of(documents), kinds=(kind,)).features[kind]


def _stacked(parts: list[Any]) -> Any:
    if hasattr(parts[0], "toarray"):
        from scipy.sparse import vstack

        return vstack(parts).tocsr()
    return np.concatenate(parts)


def _groups(name: str, documents: Documents, *, alone: bool) -> list[str]:
    if not alone or not documents.class_names:
        return [name] * len(documents)
    labels = [str(label) for label in documents.labels or []]
    largest = {label for label, _ in Counter(labels).most_common(COLOURED_CLASSES)}
    return [label if label in largest else OTHER_CLASSES for label in labels]


def _by_size(names: list[str]) -> list[str]:
    """The largest group first, that of all other classes last."""
    return sorted(set(names), key=lambda name: (name == OTHER_CLASSES, -names.count(name), name))


def _labels(documents: Documents) -> list[str | None]:
    return [None] * len(documents) if documents.labels is None else [str(label) for label in documents.labels]
