"""Reuters-21578 from the SGML files that David D. Lewis publishes: the ModApte split, 90 topics.

Each ``reut2-NNN.sgm`` has a thousand stories. A story counts if it says ``TOPICS="YES"`` and has one of the topics that
occur in both splits; all of these are its ``labels``, and the most frequent of them is its ``label``.
"""

from __future__ import annotations

import html
import re
import tarfile
from collections import Counter
from collections.abc import Container, Iterator
from pathlib import Path

from masker.corpora.corpus_rows import CorpusRow, Parts
from masker.errors import DataError

_STORY = re.compile(r"<REUTERS\s([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_ENTRY = re.compile(r"<D>(.*?)</D>")
_PARTS = [re.compile(rf"<{name}>(.*?)</{name}>", re.DOTALL) for name in ("TITLE", "BODY")]
#: A few stories have neither, but a text all the same.
_TEXT = re.compile(r"<TEXT[^>]*>(.*?)</TEXT>", re.DOTALL)
#: How most stories end.
_SIGNATURE = re.compile(r"\s*Reuter\s*$", re.IGNORECASE)
_SPLITS = {"TRAIN": "train", "TEST": "test"}


def story_files(folder: Path) -> list[Path]:
    """The files of stories in an unpacked archive."""
    return sorted(folder.glob("reut*.sgm"))


def read_newswire(path: Path) -> Parts:
    """The stories of both splits, in the order of the files."""
    stories: Parts = {"train": [], "test": []}
    for content in _archived(path) if path.is_file() else (file.read_bytes() for file in story_files(path)):
        for split, row in _stories(content.decode("latin-1")):
            stories[split].append(row)
    if not all(stories.values()):
        raise DataError("has no stories of the ModApte split; it needs the files reut2-000.sgm to reut2-021.sgm")
    counts = {split: Counter(topic for row in rows for topic in row["labels"]) for split, rows in stories.items()}
    both = counts["train"].keys() & counts["test"].keys()
    return {split: [*_labelled(rows, both, counts["train"])] for split, rows in stories.items()}


def _labelled(rows: list[CorpusRow], known: Container[str], counts: Counter[str]) -> Iterator[CorpusRow]:
    for row in rows:
        topics = [topic for topic in row["labels"] if topic in known]
        if topics:
            label = min(topics, key=lambda topic: (-counts[topic], topic))
            yield {"text": row["text"], "label": label, "labels": topics}


def _archived(path: Path) -> Iterator[bytes]:
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda one: one.name):
            file = archive.extractfile(member) if member.isfile() and member.name.endswith(".sgm") else None
            if file is not None:
                yield file.read()


def _stories(content: str) -> Iterator[tuple[str, CorpusRow]]:
    for attributes, story in _STORY.findall(content):
        known = dict(_ATTRIBUTE.findall(attributes))
        split = _SPLITS.get(known.get("LEWISSPLIT", ""))
        text = _text(story)
        if split is None or known.get("TOPICS") != "YES" or not text:
            continue
        found = _TOPICS.search(story)
        yield split, {"text": text, "labels": _ENTRY.findall(found[1]) if found else []}


def _text(story: str) -> str:
    """Title and body, without the control characters that surround them."""
    found = [match[1] for match in (part.search(story) for part in _PARTS) if match]
    whole = _TEXT.search(story)
    if whole and not found:
        found = [whole[1]]
    text = html.unescape("\n".join(part.strip() for part in found))
    text = "".join(character for character in text if character in "\n\t" or ord(character) >= 32)
    return _SIGNATURE.sub("", text).strip()
