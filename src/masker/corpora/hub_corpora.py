"""Corpora on the Hugging Face hub: data set, pinned revision, and the mapping of its columns to ours."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from masker.corpora.corpus_rows import STARS, CorpusRow, Parts, distinct, normalise, seventy_thirty
from masker.errors import DataError
from masker.extras import require
from masker.hub import no_progress_bars, one_line, table_records

_SENTIMENT = {"0": "negative", "1": "positive", "neg": "negative", "pos": "positive"}
_SENTIMENT |= {"negative": "negative", "positive": "positive"}
_INFERENCE = {"0": "entailment", "1": "neutral", "2": "contradiction"}
_INFERENCE |= {name: name for name in _INFERENCE.values()}


class MissingRevisionError(DataError):
    """The hub has the data set, but not the revision that we know."""


@dataclass(frozen=True)
class HubCorpus:
    """A corpus on the hub."""

    id: str
    revision: str
    columns: dict[str, str]  # our column -> the data set's
    #: Our split -> the data set's splits that make it up.
    splits: dict[str, tuple[str, ...]] = field(default_factory=lambda: {"train": ("train",), "test": ("test",)})
    files: dict[str, str] | None = None  # the data set's split -> pattern of its files, if not all are wanted
    labels: dict[str, str] | None = None  # the data set's class name -> ours; ``None`` keeps the labels
    cut: bool = False  # without an official split, duplicate texts are dropped and the rest is split 70:30
    rows: dict[str, int] | None = None  # documents in each of our splits, if known beforehand

    def __str__(self) -> str:
        return f"hub {self.id}@{self.revision[:8]}"

    def read(self) -> Parts:
        """Download the corpus and convert its rows. Code that comes with a data set is never run."""
        datasets = require("a corpus on the hub", "datasets")

        # A cache folder of its own: datasets would fall back on any other cached revision, and its tables are not
        # needed afterwards. The hub's library keeps the downloads, so an interrupted one resumes.
        with tempfile.TemporaryDirectory(prefix="masker-hub-") as temporary, no_progress_bars():
            try:
                loaded = datasets.load_dataset(
                    self.id, revision=self.revision, data_files=self.files, cache_dir=temporary
                )
            except Exception as error:  # network, hub and file readers raise errors of many types
                kind = MissingRevisionError if _says_no_revision(error) else DataError
                raise kind(one_line(error)) from error
            if self.cut:
                return seventy_thirty(distinct(self._rows(loaded, list(loaded))))
            return {split: list(self._rows(loaded, theirs)) for split, theirs in self.splits.items()}

    def newest(self) -> HubCorpus:
        """The same corpus at the newest revision."""
        from huggingface_hub import dataset_info

        try:
            return replace(self, revision=str(dataset_info(self.id).sha))
        except Exception as error:  # as above
            raise DataError(one_line(error)) from error

    def _rows(self, loaded: Any, splits: Sequence[str]) -> Iterator[CorpusRow]:
        columns = list(self.columns.values())
        for split in splits:
            if split not in loaded:
                raise DataError(f"has no split '{split}', only {', '.join(loaded)}")
            missing = [name for name in columns if name not in loaded[split].column_names]
            if missing:
                raise DataError(f"has no column '{missing[0]}', only {', '.join(loaded[split].column_names)}")
            records = (record for _, record in table_records(loaded[split], columns))
            yield from normalise(records, self.columns, self.labels)


def _says_no_revision(error: BaseException | None) -> bool:
    """Whether the hub said so somewhere in the chain of causes; datasets wraps it in an error of its own."""
    from huggingface_hub.errors import RevisionNotFoundError

    while error is not None and not isinstance(error, RevisionNotFoundError):
        error = error.__cause__
    return error is not None


HUB_CORPORA = {
    "20newsgroups": HubCorpus(
        "SetFit/20_newsgroups", "f1b91292074e7cfb69be58b642d583ec262f30ed", {"text": "text", "label": "label_text"}
    ),
    "imdb": HubCorpus(
        "stanfordnlp/imdb",
        "e6281661ce1c48d982bc483cf8a173c1bbeb5d31",
        {"text": "text", "label": "label"},
        files={"train": "plain_text/train-*", "test": "plain_text/test-*"},  # not the 50,000 unlabelled ones
        labels=_SENTIMENT,
        rows={"train": 25000, "test": 25000},
    ),
    "sst2": HubCorpus(
        "stanfordnlp/sst2",
        "8d51e7e4887a4caaa95b3fbebbf53c0490b58bbb",
        {"text": "sentence", "label": "label"},
        # The labels of the official test set are withheld; the paper tests on the development set.
        splits={"train": ("train",), "test": ("validation",)},
        files={"train": "data/train-*", "validation": "data/validation-*"},
        labels=_SENTIMENT,
        rows={"train": 67349, "test": 872},
    ),
    "banking77": HubCorpus(
        "mteb/banking77",
        "0fd18e25b25c072e09e0d92ab615fda904d66300",
        {"text": "text", "label": "label_text"},
        rows={"train": 10003, "test": 3080},
    ),
    "finefood": HubCorpus(
        "jhan21/amazon-food-reviews-dataset",
        "437e7271733900d8d4a743839ac279f4df324bf2",
        {"text": "Text", "label": "Score"},
        files={"train": "Reviews.csv"},
        labels=STARS,
        cut=True,
    ),
    "mnli": HubCorpus(
        "nyu-mll/multi_nli",
        "da70db2af9d09693783c3320c4249840212ee221",
        {"text": "premise", "text_pair": "hypothesis", "label": "label", "genre": "genre"},
        # Each of the ten genres is in either the matched or the mismatched set.
        splits={"train": ("train",), "test": ("validation_matched", "validation_mismatched")},
        labels=_INFERENCE,
        rows={"train": 392702, "test": 19647},
    ),
    "xnli-en": HubCorpus(
        "akhtet/myanmar-xnli",
        "56b5468e589a550006cff24060de0bc9ca98c24a",
        {"text": "sentence1_en", "text_pair": "sentence2_en", "label": "label", "genre": "genre"},
        splits={"dev": ("validation",), "test": ("test",)},
        files={"validation": "data/validation-*", "test": "data/test-*"},  # not the translated training set
        labels=_INFERENCE,
        rows={"dev": 2490, "test": 5010},
    ),
    "stsb": HubCorpus(
        "mteb/stsbenchmark-sts",
        "b0fddb56ed78048fa8b90373c8a3cfc37b684831",
        # Its "genre" is coarse (main-captions, main-news, main-forums); the paper's genres are in "dataset".
        {"text": "sentence1", "text_pair": "sentence2", "label": "score", "genre": "dataset", "group": "genre"},
        splits={"train": ("train",), "dev": ("validation",), "test": ("test",)},
        rows={"train": 5749, "dev": 1500, "test": 1379},
    ),
}
