"""Data sets that the ``datasets`` library opens: folders, and ids such as ``owner/name`` on the Hugging Face hub."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from masker.errors import DataError
from masker.hub import cache_only_when_offline, no_progress_bars, one_line, table_records

#: What ``save_to_disk`` leaves behind, as opposed to a folder of plain data files.
_SAVED = ("dataset_info.json", "state.json", "dataset_dict.json")

Choose = Callable[[Sequence[str]], Sequence[str]]


def folder_records(folder: str, split: str | None, choose: Choose) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield numbered records of a folder: one written by ``save_to_disk``, or one with data files in it.

    Args:
        folder: An existing folder.
        split: The split to read; None takes ``train``, or the only one there is.
        choose: Given the column names, returns those to read.

    Raises:
        DataError: If the folder holds no data, cannot be read or has no such split.
    """
    import datasets

    saved = any(os.path.isfile(os.path.join(folder, name)) for name in _SAVED)
    try:
        with no_progress_bars():
            loaded = datasets.load_from_disk(folder) if saved else datasets.load_dataset(folder)
    except Exception as error:  # datasets raises whatever the reader of the form raises
        if isinstance(error, FileNotFoundError) and not saved:
            message = "has no data files; put CSV, JSON Lines or Parquet files there or name one file"
        else:
            message = f"cannot be read as a data set ({one_line(error)}); write it again or name one file"
        raise DataError(f"{folder}: the folder {message}") from error
    yield from _records(loaded, folder, split, choose)


def hub_records(name: str, split: str | None, choose: Choose, hint: str = "") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield numbered records of a data set on the hub, or of its copy in the ``datasets`` cache.

    Code that a data set brings along is never run.

    Args:
        name: The id, ``owner/name`` or ``name``.
        split: The split to read; None takes ``train``, or the only one there is.
        choose: Given the column names, returns those to read.
        hint: Appended to the error when there is no such data set.

    Raises:
        DataError: If the data set cannot be reached or has no such split.
    """
    import datasets

    with cache_only_when_offline() as reachable:
        try:
            loaded = datasets.load_dataset(name)
        except Exception as error:  # network, hub and reader each bring their own error types
            reason = one_line(error) if reachable else "the hub does not answer and its cache does not have it"
            raise DataError(
                f"'{name}': neither a file nor a data set of that name could be reached ({reason}); "
                f"check the path, or see `masker data list` for the corpora known by name.{hint}"
            ) from error
    yield from _records(loaded, name, split, choose)


def _records(loaded: Any, name: str, split: str | None, choose: Choose) -> Iterator[tuple[int, dict[str, Any]]]:
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
