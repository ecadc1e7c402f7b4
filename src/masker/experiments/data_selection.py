"""From the selections of a recipe to documents.

A planned selection is plain data: the recipe's selection with stand-in, class ratio and number of documents filled in,
and the sha256 of the corpus files, so that the same name with other text is another experiment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, cast

from masker.config import DataSettings, Head
from masker.corpora import fetch_corpus, find_corpus, is_raw
from masker.documents import Documents, in_distribution_classes, read_documents, subsample, subsample_classes
from masker.errors import DataError
from masker.experiments.recipe_parts import Scale, Selection
from masker.files import file_sha256

#: Seed of what is drawn once for all runs: the documents if a scale takes fewer, and usually the known classes.
SELECTION_SEED = 0
#: Locations of corpora on this machine; for any other, asking would start a download.
_LOCAL = ("MASKER_DATA", "cache")
_cached_sha256 = cache(file_sha256)


def plan_selection(
    selection: Selection, scale: Scale, documents: int | None, *, class_seed: int = SELECTION_SEED, fetch: bool
) -> dict[str, Any]:
    """A selection at a scale, ready for the inputs of a stage.

    Args:
        documents: Maximum number of documents, unless the selection has its own.
        class_seed: Seed of the known classes, and of the documents of each class if the selection limits those.
        fetch: Whether a missing corpus may be downloaded; otherwise its sha256 is ``None``.
    """
    stand_in = scale.stand_ins.get(selection.corpus)
    corpus = selection.corpus if stand_in is None else stand_in.corpus
    without = [*selection.without_labels, *([] if stand_in is None else stand_in.without_labels)]
    ratio = selection.class_ratio if scale.class_ratio is None or selection.class_ratio is None else scale.class_ratio
    # All classes known is the same as no split by class.
    ratio = None if ratio == 1.0 else ratio
    drawn = ratio is not None or selection.per_class is not None
    return {
        "corpus": corpus,
        "split": list(selection.split),
        "sha256": [corpus_sha256(corpus, split, fetch=fetch) for split in selection.split],
        "genre": list(selection.genre),
        "labels": list(selection.labels),
        "without_labels": without,
        "class_ratio": ratio,
        # Only if it matters: the stages of recipes that never split, or split once, keep their ids.
        **({"class_seed": class_seed} if drawn and class_seed != SELECTION_SEED else {}),
        **({} if selection.per_class is None else {"per_class": selection.per_class}),
        "classes": selection.classes,
        "documents": documents if selection.documents is None else selection.documents,
    }


def corpus_sha256(corpus: str, split: str, *, fetch: bool) -> str | None:
    """The hash of the file of a split; ``None`` if it is missing and must not be fetched."""
    if not fetch:
        try:
            if not find_corpus(corpus).location.startswith(_LOCAL):
                return None
        except DataError:
            return None
    return _cached_sha256(fetch_corpus(corpus, split))


def found_raw(corpora: Iterable[str], *, fetch: bool) -> dict[str, bool]:
    """Whether each of these corpora is found as raw text; without ``fetch``, those that are not here are left out."""
    here = (name for name in corpora if fetch or find_corpus(name).location.startswith(_LOCAL))
    return {name: is_raw(name) for name in here}


def read_selections(parts: Sequence[dict[str, Any]], *, regression: bool = False) -> Documents:
    """The documents of planned selections, joined; their corpora must be those they were planned with."""
    return _join([_read_selection(part, regression) for part in parts])


def _read_selection(part: dict[str, Any], regression: bool) -> Documents:
    corpus = part["corpus"]
    settings = DataSettings(where={"genre": part["genre"]} if part["genre"] else None)
    splits = []
    for split, planned in zip(part["split"], part["sha256"], strict=True):
        found = corpus_sha256(corpus, split, fetch=True)
        if planned is not None and found != planned:
            raise DataError(
                f"{corpus}:{split} is not the file that this experiment was planned with (sha256 {str(found)[:12]}, "
                f"expected {planned[:12]}); point MASKER_DATA to the same corpora, or choose another --output"
            )
        head: Head = "regression" if regression else "multi-class"
        splits.append(read_documents(f"{corpus}:{split}", settings, require_labels=True, head=head))
    documents = _join(splits)
    if part["labels"]:
        documents = _with_labels(documents, set(part["labels"]))
    if part["without_labels"]:
        documents = _with_labels(documents, set(documents.class_names) - set(part["without_labels"]))
    if part["class_ratio"] is not None:
        names = _training_classes(part, settings, documents)
        known = set(in_distribution_classes(names, part["class_ratio"], part.get("class_seed", SELECTION_SEED)))
        unseen = set(documents.class_names) - known
        documents = _with_labels(documents, unseen if part["classes"] == "unseen" else known)
    if part["classes"] == "trained":
        documents = _with_labels(documents, set(read_selections([part["trained_on"]]).class_names))
    if part.get("per_class") is not None:
        documents = subsample_classes(documents, part["per_class"], part.get("class_seed", SELECTION_SEED))
    if part["documents"] is not None:
        documents = subsample(documents, part["documents"], SELECTION_SEED)
    return documents


def _training_classes(part: dict[str, Any], settings: DataSettings, documents: Documents) -> set[str]:
    """The classes to draw known ones from: always those of the training part, as a test part may have others."""
    if part["split"] != ["train"] and "train" in find_corpus(part["corpus"]).splits:
        documents = read_documents(f"{part['corpus']}:train", settings, require_labels=True)
    return (set(part["labels"]) or set(documents.class_names)) - set(part["without_labels"])


def _with_labels(documents: Documents, labels: set[str]) -> Documents:
    chosen = [i for i, label in enumerate(documents.labels or []) if label in labels]
    if not chosen:
        raise DataError(f"{documents.name}: no document has one of the classes {', '.join(sorted(labels))}")
    return documents.take(chosen)


def _join(parts: list[Documents]) -> Documents:
    if len(parts) == 1:
        return parts[0]
    name = " + ".join(part.name for part in parts)
    if len({part.pairs is None for part in parts}) > 1:
        raise DataError(f"{name}: cannot join single texts and pairs")
    pairs = None if parts[0].pairs is None else [pair for part in parts for pair in part.pairs or []]
    labels = [label for part in parts for label in part.labels or []]
    texts = [text for part in parts for text in part.texts]
    return Documents(texts, pairs, cast("list[str] | list[float]", labels), name)
