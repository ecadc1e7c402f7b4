"""The Hugging Face hub: whether it can be reached, and the records of its data sets.

Its libraries repeat a failing request for the better part of a minute, with a warning each time. Behind a firewall that
is a long wait for a wrong name.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

#: Seconds the hub has to answer before it counts as unreachable.
PROBE_SECONDS = 4.0


def hub_online() -> bool:
    """Ask the hub once."""
    from huggingface_hub import constants, get_session

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        get_session().head(constants.ENDPOINT, timeout=PROBE_SECONDS)
    except Exception:  # the error types differ between the HTTP libraries huggingface_hub has used
        return False
    return True


@contextlib.contextmanager
def cache_only_when_offline() -> Iterator[bool]:
    """Inside, the hub's libraries look only into their caches if the hub does not answer; yields whether it does."""
    from huggingface_hub import constants

    reachable = hub_online()
    # datasets keeps a switch of its own, which matters only where it has been imported.
    homes: list[Any] = [constants] + [sys.modules[name] for name in ("datasets.config",) if name in sys.modules]
    before = [home.HF_HUB_OFFLINE for home in homes]
    for home in homes:
        home.HF_HUB_OFFLINE = home.HF_HUB_OFFLINE or not reachable
    try:
        yield reachable
    finally:
        for home, value in zip(homes, before, strict=True):
            home.HF_HUB_OFFLINE = value


def table_records(table: Any, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield numbered records of some columns of one split; classes are written out, withheld labels are None."""
    table = table.select_columns(list(columns))
    # Only ClassLabel has both; asking by attribute spares an import of datasets here.
    names = {key: feature.names for key, feature in table.features.items() if hasattr(feature, "int2str")}
    number = 0
    for batch in table.iter(batch_size=1000):
        for values in zip(*batch.values(), strict=True):
            number += 1
            record = dict(zip(batch, values, strict=True))
            for key, classes in names.items():
                index = record[key]
                # -1 is how hub data sets mark a row whose label is withheld.
                record[key] = classes[index] if index is not None and 0 <= index < len(classes) else None
            yield number, record


@contextlib.contextmanager
def no_progress_bars() -> Iterator[None]:
    """Inside, datasets draws no bars; those of downloads stay."""
    import datasets

    if datasets.are_progress_bars_disabled():
        yield
        return
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        datasets.enable_progress_bars()


def one_line(error: BaseException) -> str:
    """Return what an error says, in one line that is not too long."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else text[:197] + "..."
