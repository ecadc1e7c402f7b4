"""Corpora by name, looked up in order: the user's folder, the cache, the Hugging Face hub, a Python package.

Whatever the hub or a package has is stored in the cache in the format of the user's folder, ``NAME.SPLIT.jsonl.gz``.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path

from masker.corpora.cache import cached_file, cached_record, corpora_folder, store_corpus
from masker.corpora.catalogue import CATALOGUE, CatalogueEntry
from masker.corpora.corpus_rows import Parts
from masker.corpora.hub_corpora import HUB_CORPORA, HubCorpus, MissingRevisionError
from masker.corpora.published_forms import PUBLISHED_FORMS, doubts, published_sha256, read_published
from masker.corpora.user_folder import published_file, user_corpora
from masker.corpora.wheels import WHEEL_CORPORA, WheelCorpus
from masker.errors import DataError, MissingPackageError, did_you_mean
from masker.hub import offline_reason

_LOG = logging.getLogger("masker")


@dataclass(frozen=True)
class CorpusInfo:
    """A corpus that can be read by name.

    ``location`` is where it would be read from now: ``MASKER_DATA``, ``cache`` (with its origin), the sources it would
    be downloaded from, or what the user has to supply.
    """

    name: str
    splits: tuple[str, ...]
    rows: dict[str, int] | None  # documents in each split, if known without reading them
    location: str
    about: str = ""
    terms: str = ""  # licence or terms of use, as far as known


def list_corpora() -> list[CorpusInfo]:
    """Every corpus that can be read by name, sorted; nothing is downloaded."""
    supplied = user_corpora()
    return [_info(name, supplied) for name in sorted({*CATALOGUE, *supplied})]


def find_corpus(name: str) -> CorpusInfo:
    """The corpus called ``name``."""
    supplied = user_corpora()
    if name not in CATALOGUE and name not in supplied:
        known = sorted({*CATALOGUE, *supplied})
        hint = did_you_mean(name, known)
        raise DataError(f"there is no corpus '{name}'; known: {', '.join(known)} (see `masker data list`).{hint}")
    return _info(name, supplied)


def fetch_corpus(name: str, split: str | None = None, *, renew: bool = False) -> Path:
    """The file of one split of a corpus, downloaded into the cache if needed.

    A corpus in the ``MASKER_DATA`` folder is read from there only: its splits may differ from those elsewhere, and
    mixing them could test on training documents. For the same reason all splits are downloaded together. A ``split`` of
    None means ``train``, or the only split; ``renew`` downloads again even if the cache has the corpus.
    """
    info = find_corpus(name)
    wanted = split or (info.splits[0] if len(info.splits) == 1 else "train")
    if wanted not in info.splits:
        raise DataError(
            f"corpus '{name}' has no split '{wanted}'; it has {', '.join(info.splits)}: write {name}:{info.splits[0]}"
        )
    supplied = user_corpora()
    if name in supplied:
        return supplied[name][wanted]
    published = published_file(name)
    if published is not None:
        import_corpus(name, published, renew=renew)
    elif renew or cached_record(name) is None:
        _download(name)
    return cached_file(name, wanted)


def import_corpus(name: str, path: Path, *, renew: bool = True) -> None:
    """Store a corpus in the cache from what its authors publish; ``renew`` even if the cached copy came from it."""
    if name not in PUBLISHED_FORMS:
        known = ", ".join(f"{corpus} ({published.file_name})" for corpus, published in PUBLISHED_FORMS.items())
        raise DataError(f"corpus '{name}' cannot be imported; these can: {known}")
    file_name = PUBLISHED_FORMS[name].file_name
    if not path.exists():
        raise DataError(f"{path}: there is no such file or folder; give the path of {file_name}")
    origin = f"{'file' if path.is_file() else 'folder'} {path.name} (sha256 {published_sha256(name, path)[:12]})"
    record = cached_record(name)
    if renew or record is None or record["origin"] != origin:
        try:
            parts = _refuse_empty_splits(read_published(name, path))
        except DataError as error:
            raise DataError(f"{path}: {error}; get {file_name} again") from error
        for doubt in doubts(name, path, parts):
            _LOG.warning("%s; the corpus may be another one", doubt)
        store_corpus(name, parts, origin)


def corpus_path_or_none(source: str) -> Path | None:
    """The file of ``name`` or ``name:split``, or None if ``source`` does not name a corpus."""
    name, _, split = source.partition(":")
    if not any(info.name == name for info in list_corpora()):
        return None
    return fetch_corpus(name, split or None)


def _info(name: str, supplied: dict[str, dict[str, Path]]) -> CorpusInfo:
    entry = CATALOGUE.get(name, CatalogueEntry("", ""))
    file_name = PUBLISHED_FORMS[name].file_name if name in PUBLISHED_FORMS else None
    record = cached_record(name)
    rows: dict[str, int] | None = None
    if name in supplied:
        splits, location = tuple(supplied[name]), "MASKER_DATA"
    elif published_file(name) is not None:
        splits, location = entry.splits, f"MASKER_DATA ({file_name})"
    elif record is not None:
        rows = {split: file["rows"] for split, file in record["files"].items()}
        splits, location = tuple(rows), f"cache ({record['origin']})"
    elif sources := _sources(name):
        splits, rows = tuple(sources[0].splits), sources[0].rows
        location = ", else ".join(map(str, sources))
    else:
        splits, location = entry.splits, f"your own {file_name or 'MASKER_DATA folder'}"
    return CorpusInfo(name, splits, rows, location, entry.about, entry.terms)


def _sources(name: str) -> list[HubCorpus | WheelCorpus]:
    """Where a corpus can be downloaded from, in order of preference."""
    candidates = HUB_CORPORA.get(name), WHEEL_CORPORA.get(name)
    return [source for source in candidates if source is not None]


def _download(name: str) -> None:
    failures: list[str] = []
    notice = f"downloading corpus {name} from"
    for source in _sources(name):
        if isinstance(source, HubCorpus) and (reason := offline_reason()):
            failures.append(f"{source} ({reason})")
            notice = f"hub not reachable ({reason}); taking corpus {name} from"
            continue
        _LOG.info("%s %s", notice, source)
        try:
            parts, origin = _read(source)
        except (DataError, MissingPackageError) as error:
            failures.append(f"{source} ({error})")
            notice = f"{source} failed ({error}); taking corpus {name} from"
            continue
        return store_corpus(name, parts, origin)
    raise DataError(_unavailable(name, failures))


def _read(source: HubCorpus | WheelCorpus) -> tuple[Parts, str]:
    """The rows of a corpus and where they came from; the newest revision if the hub no longer has ours."""
    try:
        return _refuse_empty_splits(source.read()), str(source)
    except MissingRevisionError:
        assert isinstance(source, HubCorpus)
        newest = source.newest()
    _LOG.warning("%s is gone; taking %s, the newest: results may differ from published ones", source, newest)
    return _refuse_empty_splits(newest.read()), str(newest)


def _refuse_empty_splits(parts: Parts) -> Parts:
    for split, rows in parts.items():
        if not rows:
            raise DataError(f"no usable row for split '{split}'")
    return parts


def how_to_get(name: str) -> str:
    """What makes a corpus available on this machine: a download, or what the user has to bring."""
    sources = " or ".join(map(str, _sources(name)))
    ways = [f"downloaded from {sources} when it is needed"] if sources else []
    ways += _published_way(name)
    return ", or ".join(ways or [_folder_way(name)])


def _published_way(name: str) -> list[str]:
    if name not in PUBLISHED_FORMS:
        return []
    form = PUBLISHED_FORMS[name]
    return [f"get {form.file_name} ({form.where}) and run `masker data fetch {name} --from {form.file_name}`"]


def _folder_way(name: str) -> str:
    entry = CATALOGUE[name]
    files = " and ".join(f"{name}.{split}.jsonl.gz" for split in entry.splits)
    fields = ", ".join(f'"{field}"' for field in entry.fields)
    return f"set MASKER_DATA to a folder with {files}, each with {{{fields}}} lines"


def _unavailable(name: str, failures: list[str]) -> str:
    places = [f"MASKER_DATA ({os.environ.get('MASKER_DATA') or 'not set'})", f"the cache ({corpora_folder()})"]
    places += failures or ["hub and packages (none has it)"]
    remedies = [*(["check the network"] if failures else []), *_published_way(name), _folder_way(name)]
    return f"corpus '{name}' is not available; tried {'; '.join(places)}. To fix this, {', or '.join(remedies)}"
