"""Whether the Hugging Face hub can be reached, asked once and briefly.

Its libraries repeat a failing request for the better part of a minute, with a warning each time. Behind a firewall that
is a long wait for a wrong name.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

#: Seconds the hub has to answer before it counts as unreachable.
PROBE_SECONDS = 4.0


def hub_answers() -> bool:
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
def cache_only_when_unreachable() -> Iterator[bool]:
    """Inside, the hub's libraries look only into their caches if the hub does not answer; yields whether it does."""
    from huggingface_hub import constants

    reachable = hub_answers()
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
