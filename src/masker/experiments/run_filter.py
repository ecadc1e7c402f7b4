"""``--only KEY=VALUE``: which runs of a recipe are wanted."""

from __future__ import annotations

from collections.abc import Sequence

from masker.errors import ConfigError, did_you_mean

FILTER_KEYS = ("train", "system", "backbone")


class RunFilter:
    """Matches runs that have one of the values given for each key by ``key=value`` texts; case does not matter."""

    def __init__(self, only: Sequence[str]) -> None:
        self.wanted: dict[str, set[str]] = {}
        self.seen: dict[str, dict[str, None]] = {key: {} for key in FILTER_KEYS}
        for text in only:
            key, equals, value = text.partition("=")
            if not equals or key not in FILTER_KEYS:
                hint = did_you_mean(key, FILTER_KEYS)
                raise ConfigError(
                    f"--only takes KEY=VALUE with KEY one of {', '.join(FILTER_KEYS)}; got '{text}'.{hint}"
                )
            self.wanted.setdefault(key, set()).add(value.lower())

    def matches(self, *, train: str, system: str, backbone: tuple[str, str]) -> bool:
        """Whether a run is wanted.

        An encoder can be named by the paper's column or by the model, a system with or without the score that it is
        read by.
        """
        values = {"train": (train,), "system": (system, system.partition(":")[0]), "backbone": backbone}
        for key, names in values.items():
            self.seen[key] |= {name: None for name in names if name}
        return all({name.lower() for name in values[key]} & wanted for key, wanted in self.wanted.items())

    def known(self) -> str:
        """The values that runs asked about so far had, by key."""
        return "; ".join(f"{key}: {', '.join(names)}" for key, names in self.seen.items())
