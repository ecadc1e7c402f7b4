"""The Hugging Face hub: whether it is reachable, and the records of its data sets.

Its libraries retry a failing request for most of a minute and warn each time, a long wait for a typo behind a firewall.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

#: Seconds the hub has to answer before it counts as unreachable.
PROBE_SECONDS = 4.0


def hub_online() -> bool:
    """Send the hub one request and report whether it answers."""
    from huggingface_hub import constants, get_session

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        get_session().head(constants.ENDPOINT, timeout=PROBE_SECONDS)
    except Exception:  # the error types differ between the HTTP libraries huggingface_hub has used
        return False
    return True


def offline_reason() -> str | None:
    """Why the hub cannot be reached, or ``None`` if it answers."""
    from huggingface_hub import constants

    if hub_online():
        return None
    return "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else f"no answer from {constants.ENDPOINT}"


@contextlib.contextmanager
def cache_only_when_offline() -> Iterator[bool]:
    """Restrict the hub's libraries to their caches if the hub does not answer; yields whether it does."""
    from huggingface_hub import constants

    reachable = hub_online()
    # datasets has a switch of its own, which matters only once it has been imported.
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
    """Yield numbered records of the given columns of a split, with class names for indices, None if withheld."""
    table = table.select_columns(list(columns))
    # Only ClassLabel has both attributes; checking for them avoids importing datasets here.
    names = {key: feature.names for key, feature in table.features.items() if hasattr(feature, "int2str")}
    number = 0
    for batch in table.iter(batch_size=1000):
        for values in zip(*batch.values(), strict=True):
            number += 1
            record = dict(zip(batch, values, strict=True))
            for key, classes in names.items():
                index = record[key]
                # Hub data sets mark withheld labels with -1.
                record[key] = classes[index] if index is not None and 0 <= index < len(classes) else None
            yield number, record


@contextlib.contextmanager
def no_progress_bars() -> Iterator[None]:
    """Turn off the progress bars of datasets; those of downloads stay."""
    import datasets

    enabled = not datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if enabled:
            datasets.enable_progress_bars()


def one_line(error: BaseException) -> str:
    """The message of an error on one line of at most 200 characters."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else text[:197] + "..."
