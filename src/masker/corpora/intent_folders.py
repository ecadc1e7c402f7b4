"""``hwu64``, ``snips`` and ``atis`` from the folders that jianguoz/Few-Shot-Intent-Detection publishes.

The repository has ``Datasets/NAME/SPLIT/seq.in`` with one text a line, and ``label`` beside it with the intents.
"""

from __future__ import annotations

from pathlib import Path

from masker.corpora.corpus_rows import CorpusRow, Parts
from masker.errors import DataError

#: Our split -> the repository's.
_SPLITS = {"train": "train", "dev": "valid", "test": "test"}


def intent_files(folder: Path, name: str) -> list[Path]:
    """The files of a corpus in the repository, in a fixed order."""
    parts = (folder / "Datasets" / name / theirs for theirs in _SPLITS.values())
    return [part / file for part in parts for file in ("seq.in", "label")]


def read_intents(folder: Path, name: str) -> Parts:
    """The official splits; texts are lower-cased, as the repository's own code reads them."""
    files = intent_files(folder, name)
    return {
        split: _labelled(texts, labels) for split, texts, labels in zip(_SPLITS, files[::2], files[1::2], strict=True)
    }


def _labelled(texts: Path, labels: Path) -> list[CorpusRow]:
    rows = [path.read_text(encoding="utf-8").splitlines() for path in (texts, labels)]
    if len(rows[0]) != len(rows[1]):
        raise DataError(f"{texts.parent.name}/seq.in has {len(rows[0])} lines, label has {len(rows[1])}")
    pairs = ((text.strip().lower(), label.strip()) for text, label in zip(*rows, strict=True))
    return [{"text": text, "label": label} for text, label in pairs if text and label]
