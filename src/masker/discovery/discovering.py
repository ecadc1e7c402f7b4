"""From a stream of texts to groups, in bounded memory.

Texts are judged a chunk at a time, and those that count are kept on disk (:mod:`masker.discovery.text_store`). Groups
are found among a sample; all other texts go to the group whose centre is nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from masker.discovery.group_names import distinctive_terms, group_name
from masker.discovery.grouping import NOISE, Grouping, Places, find_groups, renumbered
from masker.discovery.novelty import NEW_BEYOND, KnownClasses
from masker.discovery.text_groups import TextGroup
from masker.discovery.text_space import TextSpace
from masker.discovery.text_store import StoredTexts, TextStore
from masker.documents.texts import Text
from masker.errors import DataError
from masker.inference.batching import Advance
from masker.model import Model


@dataclass(frozen=True)
class DiscoverySettings:
    """How to look for groups.

    Attributes:
        max_groups: Upper limit of the number of groups.
        only_rejected: Leave out texts that the model accepts.
        sample: Texts to find the groups among; memory grows with them.
        examples: Texts shown from the middle and from the edge of a group.
        seed: Of the sample and of k-means.
    """

    max_groups: int = 100
    only_rejected: bool = True
    sample: int = 5000
    examples: int = 3
    seed: int = 0


@dataclass(frozen=True)
class FoundGroups:
    """Groups among the texts of a store.

    Attributes:
        groups: Largest first.
        labels: (N,) the group of every text of the store, or NOISE.
        sample: Numbers of the texts that the groups were found among.
        grouping: Their centres.
    """

    groups: list[TextGroup]
    labels: Places
    sample: list[int]
    grouping: Grouping


def store_texts(
    model: Model,
    chunks: Iterable[Sequence[Text]],
    store: TextStore,
    *,
    only_rejected: bool = True,
    advance: Advance | None = None,
    describe: Callable[[Any, int], dict[str, Any]] | None = None,
) -> int:
    """Judge texts, add those that count to the store, and return how many were read.

    Args:
        model: Judges them.
        chunks: The texts.
        store: Where vectors and records (``text``, ``text_pair`` for pairs, ``label``) go.
        only_rejected: Leave out texts that the model accepts.
        advance: Called with the number of rows done.
        describe: More entries for the record of a text, from the judgement of its chunk and its place there.
    """
    space, detector, read = TextSpace.of(model), model.require_detector("grouping texts"), 0
    kinds = tuple(dict.fromkeys([*detector.score.features, *space.kinds]))
    for texts in chunks:
        outputs = model.outputs(texts, advance, kinds)
        judged = detector.judge(outputs)
        read += len(texts)
        kept = (np.flatnonzero(judged.rejected) if only_rejected else np.arange(len(texts))).tolist()
        records = [
            {
                **_text_entries(texts[place]),
                "label": model.labels[judged.predicted[place]],
                **({} if describe is None else describe(judged, place)),
            }
            for place in kept
        ]
        if len(kept):
            features = {kind: outputs.features[kind][kept] for kind in space.kinds}
            store.add(space.join(features), records)
    return read


def discover_groups(model: Model, store: TextStore, settings: DiscoverySettings) -> FoundGroups:
    """Group the texts of a store.

    Raises:
        DataError: When there is none.
        MissingPackageError: When scikit-learn is not installed.
    """
    if not len(store):
        raise DataError("there is no text to group: the model rejects none of them; group all with --all")
    space = TextSpace.of(model)
    sample, numbers = store.sample(settings.sample, settings.seed)
    first, copies = distinct_texts(sample.records)
    sample = StoredTexts(space.telling_part(sample.vectors[first]), [sample.records[row] for row in first])
    grouping = find_groups(sample.vectors, settings.max_groups, settings.seed)
    labels = np.full(len(store), NOISE)
    labels[numbers] = grouping.labels[copies]
    if len(numbers) < len(store):
        inside, start = set(numbers), 0
        for chunk in store.chunks():
            rest = [row for row in range(len(chunk.records)) if start + row not in inside]
            labels[[start + row for row in rest]] = grouping.assign(space.telling_part(chunk.vectors[rest]))
            start += len(chunk.records)
    sizes = np.bincount(labels[labels >= 0], minlength=len(grouping.centres))
    order = np.argsort(-sizes, kind="stable")
    grouping, labels = grouping.reordered(order), renumbered(labels, order)
    return FoundGroups(_described(model, space, sample, grouping, sizes[order], settings), labels, numbers, grouping)


def distinct_texts(records: Sequence[dict[str, Any]]) -> tuple[list[int], Places]:
    """The rows of the first of equal texts, and (N,) for each text the place of its equal among these.

    Case and blanks do not count. A hundred copies of one text are no group: they would be each other's nearest
    neighbours, and a graph of them falls to pieces.
    """
    places: dict[tuple[str, str], int] = {}
    first: list[int] = []
    copies = np.empty(len(records), dtype=np.int64)
    for row, record in enumerate(records):
        key = _folded(record["text"]), _folded(record.get("text_pair", ""))
        if key not in places:
            places[key] = len(first)
            first.append(row)
        copies[row] = places[key]
    return first, copies


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _described(
    model: Model,
    space: TextSpace,
    sample: StoredTexts,
    grouping: Grouping,
    sizes: Places,
    settings: DiscoverySettings,
) -> list[TextGroup]:
    statistics = model.require_detector().basis.statistics
    known = None if statistics is None else KnownClasses.of(statistics, space, settings.seed)
    members = [np.flatnonzero(grouping.labels == group) for group in range(len(grouping.centres))]
    texts = [" / ".join(_texts_of(record)) for record in sample.records]
    terms = distinctive_terms([[texts[row] for row in rows] for rows in members])
    groups: list[TextGroup] = []
    for place, rows in enumerate(members):
        vectors = sample.vectors[rows]
        cosines = vectors @ grouping.centres[place]
        order = [texts[rows[row]] for row in np.argsort(-cosines, kind="stable")]
        nearest, novelty = (None, None) if known is None else known.nearest(vectors.mean(axis=0, dtype=np.float64))
        groups.append(
            TextGroup(
                group_name(terms[place], [group.name for group in groups]),
                terms[place],
                int(sizes[place]),
                float(cosines.mean()),
                None if nearest is None else model.labels[nearest],
                novelty,
                None if novelty is None else novelty > NEW_BEYOND,
                order[: settings.examples],
                order[settings.examples :][-settings.examples :],
            )
        )
    return groups


def _texts_of(record: dict[str, Any]) -> list[str]:
    return [record[name] for name in ("text", "text_pair") if name in record]


def _text_entries(text: Text) -> dict[str, str]:
    return {"text": text} if isinstance(text, str) else {"text": text[0], "text_pair": text[1]}
