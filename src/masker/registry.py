"""Names that users type, and what they stand for: scores, training methods, keyword schemes.

Built-in entries live in one module or package each. A package installed beside masker adds its own by naming a module
in one of the entry-point groups; importing that module registers them. See docs/architecture.md, "to add a ...".
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from masker.errors import ConfigError, did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """A table from names to entries, filled when it is first read.

    Importing the module ``built_in`` registers the built-in entries, loading the entry points of ``group`` the others.
    """

    def __init__(self, what: str, built_in: str, group: str) -> None:
        self.what, self.group = what, group
        self._built_in = built_in
        self._entries: dict[str, T] = {}
        self._filled = False

    def add(self, name: str, entry: T) -> T:
        """Register an entry."""
        if name in self._entries and self._entries[name] is not entry:
            raise ConfigError(f"there are two entries for {self.what} '{name}'; rename one of them")
        self._entries[name] = entry
        return entry

    def get(self, name: str) -> T:
        """The entry of that name."""
        self._fill()
        if name not in self._entries:
            known = ", ".join(self._entries)
            hint = did_you_mean(name, self._entries)
            raise ConfigError(f"{self.what} must be one of {known}; got '{name}'.{hint}")
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        self._fill()
        return isinstance(name, str) and name in self._entries

    def __iter__(self) -> Iterator[str]:
        self._fill()
        return iter(tuple(self._entries))

    def items(self) -> list[tuple[str, T]]:
        """All names with their entries, built-in ones first."""
        self._fill()
        return list(self._entries.items())

    def _fill(self) -> None:
        if self._filled:
            return
        self._filled = True  # registering a built-in entry may read the registry
        import_module(self._built_in)
        for plug_in in entry_points(group=self.group):
            try:
                plug_in.load()
            except Exception as error:  # whatever a stranger's module raises
                self._filled = False  # so that the next lookup fails alike
                raise ConfigError(
                    f"plug-in '{plug_in.name}' ({plug_in.value}) cannot be loaded ({type(error).__name__}: {error}); "
                    "mend or uninstall it"
                ) from error


#: Training methods; an entry is a :class:`masker.training.methods.Method`.
METHODS: Registry[Any] = Registry("training.method", "masker.training.methods", "masker.methods")
#: Out-of-distribution scores; an entry is a subclass of :class:`masker.detection.score.Score` bound to a name.
SCORES: Registry[Any] = Registry("detection.score", "masker.detection.scores", "masker.scores")
#: Keyword schemes; an entry is a :class:`masker.keywords.schemes.KeywordScheme`.
KEYWORD_SCHEMES: Registry[Any] = Registry("keywords.source", "masker.keywords.schemes", "masker.keywords")
