"""The three corpora of HINT3 from the folder that hellohaptik/HINT3 publishes: what people typed to chat bots.

The repository has ``dataset/v2/train/BOT_train.csv`` and ``dataset/v2/test/BOT_test.csv``, with the columns
``sentence`` and ``label``. Test messages that the makers of a bot found no intent for are our split ``ood``.
"""

from __future__ import annotations

import csv
from pathlib import Path

from masker.corpora.corpus_rows import CorpusRow, Parts, normalise
from masker.errors import DataError

#: The label of a message that belongs to no intent.
NO_INTENT = "NO_NODES_DETECTED"
_COLUMNS = {"text": "sentence", "label": "label"}


def bot_files(folder: Path, name: str) -> list[Path]:
    """The training and the test file of a bot."""
    return [folder / "dataset" / "v2" / split / f"{name}_{split}.csv" for split in ("train", "test")]


def read_bot(folder: Path, name: str) -> Parts:
    """The official split, with the test messages of no intent apart."""
    train, test = (_read(path) for path in bot_files(folder, name))
    known = [row for row in test if row["label"] != NO_INTENT]
    return {"train": train, "test": known, "ood": [row for row in test if row["label"] == NO_INTENT]}


def _read(path: Path) -> list[CorpusRow]:
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        missing = [column for column in _COLUMNS.values() if column not in (reader.fieldnames or [])]
        if missing:
            raise DataError(f"{path.name} has no column '{missing[0]}'")
        return list(normalise(reader, _COLUMNS))
