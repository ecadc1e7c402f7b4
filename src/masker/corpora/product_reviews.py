"""``amazon24`` and ``grocery`` from the reviews that ZixuanKe/LifelongSentClass publishes.

The repository has ``dat/dsc/CATEGORY_SPLIT.tsv`` for 24 categories and the splits train, dev and test; a line is a
tokenised review, a tab, and 1 or -1 for its sentiment. Dev and test together are our test part. A text that stands
under two categories is dropped, and so is a test text that is also in the training part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from masker.corpora.corpus_rows import CorpusRow, Parts, distinct, shuffled
from masker.errors import DataError

_FOLDER = "dat/dsc"
_SPLITS = {"train": ("train",), "test": ("test", "dev")}
_GROCERY = "Grocery_and_Gourmet_Food"
_SENTIMENT = {"1": "positive", "-1": "negative"}
#: Documents of each category that are taken.
_PER_CLASS = {"train": 1400, "test": 600}


def review_files(folder: Path) -> list[Path]:
    """The files of reviews in the repository, sorted; none if it is another folder."""
    return sorted((folder / _FOLDER).glob("*_*.tsv"))


def read_grocery(folder: Path) -> Parts:
    """Food reviews, positive and negative."""
    rows = {split: list(_rows(folder, _GROCERY, parts)) for split, parts in _SPLITS.items()}
    labelled = {
        split: [{"text": row["text"], "label": _SENTIMENT[row["sentiment"]]} for row in members]
        for split, members in rows.items()
    }
    return _without_common(labelled)


def read_products(folder: Path) -> Parts:
    """Reviews by product category: of each, 1,400 for training and 600 for tests, drawn by the hash of their text."""
    names = sorted({path.name.removesuffix("_train.tsv") for path in review_files(folder) if _is_training(path)})
    if not names:
        raise DataError(f"has no files {_FOLDER}/CATEGORY_train.tsv; give a checkout of the repository")
    rows = {split: [row for name in names for row in _rows(folder, name, parts)] for split, parts in _SPLITS.items()}
    return {
        split: _drawn(members, _PER_CLASS[split]) for split, members in _without_common(_of_one_category(rows)).items()
    }


def _is_training(path: Path) -> bool:
    return path.name.endswith("_train.tsv")


def _rows(folder: Path, category: str, parts: tuple[str, ...]) -> Iterator[CorpusRow]:
    for part in parts:
        path = folder / _FOLDER / f"{category}_{part}.tsv"
        with open(path, encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                text, _, sentiment = line.rstrip("\r\n").rpartition("\t")
                if sentiment not in _SENTIMENT:
                    raise DataError(f"{path.name}, line {number}: must end with a tab and 1 or -1; got '{sentiment}'")
                if text.strip():
                    yield {"text": text, "label": category, "sentiment": sentiment}


def _of_one_category(parts: Parts) -> Parts:
    places = {(row["text"], row["label"]) for rows in parts.values() for row in rows}
    categories = Counter(text for text, _ in places)
    return {split: [row for row in rows if categories[row["text"]] == 1] for split, rows in parts.items()}


def _without_common(parts: Parts) -> Parts:
    trained = {row["text"] for row in parts["train"]}
    return {
        "train": distinct(parts["train"]),
        "test": distinct(row for row in parts["test"] if row["text"] not in trained),
    }


def _drawn(rows: list[CorpusRow], per_class: int) -> list[CorpusRow]:
    classes: dict[str, list[CorpusRow]] = {}
    for row in shuffled(rows):
        classes.setdefault(row["label"], []).append(row)
    return [row for label in sorted(classes) for row in classes[label][:per_class]]
