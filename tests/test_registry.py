import sys
import types

import pytest

from masker import registry as module
from masker.errors import ConfigError
from masker.registry import KEYWORD_SCHEMES, METHODS, Registry

BUILT_IN = "built_in_entries_for_tests"


class PlugIn:
    """An entry point as importlib.metadata gives it."""

    def __init__(self, name, load):
        self.name, self.value, self.load = name, f"{name}_module", load


@pytest.fixture
def registry(monkeypatch):
    """A registry whose built-in entry is ``plain``; importing its module is counted."""
    monkeypatch.setattr(module, "entry_points", lambda group: [])
    table = Registry("colour", BUILT_IN, "masker.colours")
    table.imports = 0

    def load(name):
        assert name == BUILT_IN
        table.imports += 1
        table.add("plain", "#000")
        return types.ModuleType(name)

    monkeypatch.setattr(module, "import_module", load)
    return table


def test_built_in_entries_are_loaded_once_and_when_needed(registry):
    registry.add("mine", "#fff")
    assert registry.imports == 0
    assert registry.get("plain") == "#000"
    assert registry.items() == [("mine", "#fff"), ("plain", "#000")]
    assert "plain" in registry and "pale" not in registry
    assert list(registry) == ["mine", "plain"]
    assert registry.imports == 1


def test_an_unknown_name_lists_the_known_ones(registry):
    with pytest.raises(ConfigError) as caught:
        registry.get("plian")
    assert str(caught.value) == "colour must be one of plain; got 'plian'. Did you mean 'plain'?"


def test_a_name_is_taken_once(registry):
    entry = ["#fff"]
    assert registry.add("mine", entry) is entry
    assert registry.add("mine", entry) is entry
    with pytest.raises(ConfigError, match="there are two entries for colour 'mine'; rename one of them"):
        registry.add("mine", ["#fff"])


def test_plug_ins_register_themselves(registry, monkeypatch):
    groups = []

    def entry_points(group):
        groups.append(group)
        return [PlugIn("bright", lambda: registry.add("bright", "#ff0"))]

    monkeypatch.setattr(module, "entry_points", entry_points)
    assert registry.get("bright") == "#ff0"
    assert list(registry) == ["plain", "bright"]
    assert groups == ["masker.colours"]


def test_a_plug_in_that_fails_is_named(registry, monkeypatch):
    def fail():
        raise ImportError("no module named paint")

    monkeypatch.setattr(module, "entry_points", lambda group: [PlugIn("bright", fail)])
    message = r"plug-in 'bright' \(bright_module\) cannot be loaded \(ImportError: no module named paint\)"
    with pytest.raises(ConfigError, match=message):
        list(registry)


@pytest.mark.parametrize(("registry", "name"), [(METHODS, "masker"), (KEYWORD_SCHEMES, "attention")])
def test_real_registries_have_their_built_in_entries(registry, name):
    assert name in registry
    assert registry.get(name) is dict(registry.items())[name]
    assert registry.group.startswith("masker.")
    assert sys.modules[registry._built_in]
