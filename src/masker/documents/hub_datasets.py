"""Data sets that the ``datasets`` library opens: folders, and Hugging Face hub ids such as ``owner/name``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from masker.documents.columns import ChooseColumns, Record
from masker.errors import DataError
from masker.extras import require
from masker.hub import cache_only_when_offline, no_progress_bars, one_line, table_records

#: Files written by ``save_to_disk``; without them a folder holds plain data files.
_SAVED = ("dataset_info.json", "state.json", "dataset_dict.json")


def folder_records(folder: str, split: str | None, choose: ChooseColumns) -> Iterator[Record]:
    """Yield the records of a folder, either written by ``save_to_disk`` or holding data files.

    A ``split`` of None means ``train``, or the only split.
    """
    datasets = require("a data set of the hub or in a folder", "datasets")

    saved = any(os.path.isfile(os.path.join(folder, name)) for name in _SAVED)
    try:
        with no_progress_bars():
            loaded = datasets.load_from_disk(folder) if saved else datasets.load_dataset(folder)
    except Exception as error:  # datasets passes on whatever the reader of the format raises
        if isinstance(error, FileNotFoundError) and not saved:
            message = "has no data files; put CSV, JSON Lines or Parquet files there, or name a file"
        else:
            message = f"cannot be read as a data set ({one_line(error)}); write it again, or name a file"
        raise DataError(f"{folder}: the folder {message}") from error
    yield from _records(loaded, folder, split, choose)


def hub_records(name: str, split: str | None, choose: ChooseColumns, hint: str = "") -> Iterator[Record]:
    """Yield the records of a hub data set, or of its copy in the ``datasets`` cache.

    Code that comes with a data set is never run. A ``split`` of None means ``train``, or the only split; ``hint`` is
    appended to the error if there is no such data set.
    """
    datasets = require("a data set of the hub or in a folder", "datasets")

    with cache_only_when_offline() as reachable:
        try:
            loaded = datasets.load_dataset(name)
        except Exception as error:  # network, hub and file readers raise errors of many types
            reason = one_line(error) if reachable else "the hub does not answer, and its cache does not have it"
            raise DataError(
                f"'{name}': no file or data set of that name could be reached ({reason}); "
                f"check the path, or run `masker data list` for the corpora known by name.{hint}"
            ) from error
    yield from _records(loaded, name, split, choose)


def _records(loaded: Any, name: str, split: str | None, choose: ChooseColumns) -> Iterator[Record]:
    table = _pick_split(loaded, name, split)
    yield from table_records(table, choose(table.column_names))


def _pick_split(loaded: Any, name: str, split: str | None) -> Any:
    if not isinstance(loaded, dict):
        own = str(loaded.split) if loaded.split is not None else None
        if split is not None and split != own:
            raise DataError(f"{name}: has no split '{split}'; it holds a single data set, so leave ':{split}' out")
        return loaded
    splits = list(loaded)
    wanted = split or ("train" if "train" in splits or len(splits) != 1 else splits[0])
    if wanted not in splits:
        raise DataError(f"{name}: has no split '{wanted}'; it has {', '.join(splits)}: write {name}:{splits[0]}")
    return loaded[wanted]
