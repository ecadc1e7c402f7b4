"""Where settings come from (YAML or JSON files, ``section.key=value`` overrides), and what to say of wrong ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from masker.errors import ConfigError, did_you_mean

Layer = dict[str, dict[str, Any]]

#: Values of a YAML file, counted as often as they are referred to: a few lines of references can stand for billions.
MOST_VALUES = 100_000
#: Bits of an integer; Python takes long to write out larger ones, and refuses in the end.
_MOST_BITS = 1024
#: Characters of a wrong value that a message repeats.
_SHOWN = 200


def parse_yaml(text: str) -> Any:
    """The content of YAML or JSON from anywhere.

    Raises:
        ValueError: Says in one line why it cannot be read, or is too large or too deep to be meant.
    """
    try:
        content = yaml.safe_load(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:  # a ValueError is a date such as 2020-99-99
        raise ValueError(" ".join(str(error).split())) from None
    seen, waiting = 0, [content]
    while waiting:
        value = waiting.pop()
        seen += 1
        if seen > MOST_VALUES:
            raise ValueError(f"with its references it has more than {MOST_VALUES:,} values")
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise ValueError("it has an integer with hundreds of digits")
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, (list, tuple, set)):
            waiting += value
    return content


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def merge_layer(into: Layer, new: Layer, *, unset: bool = False) -> None:
    """Add the keys of a layer; ``None`` values are ignored, unless ``unset`` says that they count."""
    for section, keys in new.items():
        if not isinstance(keys, dict):
            raise ConfigError(f"section '{section}' must hold keys and values; got {_shown(keys)}")
        into.setdefault(section, {}).update({key: value for key, value in keys.items() if value is not None or unset})


def read_config_file(path: Path, sections: Sequence[str]) -> Layer:
    """The content of a YAML or JSON file."""
    try:
        content = parse_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"config file '{path}' does not exist; give the path of a YAML or JSON file") from None
    except OSError as error:
        raise ConfigError(f"config file '{path}' cannot be read: {error.strerror}; give a YAML or JSON file") from None
    except ValueError as error:
        raise ConfigError(f"config file '{path}' is not YAML or JSON: {error}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"config file '{path}' must hold sections ({', '.join(sections)})")
    return content


def parse_override(override: str) -> Layer:
    """The layer of one ``section.key=value``; the value is parsed as YAML."""
    name, equals, raw = override.partition("=")
    section, dot, key = name.strip().partition(".")
    if not equals or not dot or not key:
        raise ConfigError(f"--set takes section.key=value, for example loss.lambda_mer=0.01; got '{override}'")
    try:
        value = parse_yaml(raw)
    except ValueError:
        value = raw
    # YAML 1.1 reads 1e-3 as a string; JSON does not.
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return {section: {key: value}}


def explain_problem(problem: Any, sections: Mapping[str, Any]) -> str:
    """One line about a problem that pydantic found in these sections: parameter, what is allowed, what was received."""
    location = [str(part) for part in problem["loc"]]
    name = ".".join(location)
    if problem["type"] == "extra_forbidden":
        if len(location) == 1:
            return f"unknown section '{name}'; known: {', '.join(sections)}.{did_you_mean(name, sections)}"
        section = sections[location[0]].annotation
        known = list(getattr(section, "model_fields", {}))
        return f"unknown setting '{name}'; known: {', '.join(known)}.{did_you_mean(location[-1], known)}"
    message = str(problem["msg"]).removeprefix("Value error, ")
    if not name:
        return message
    received = _shown(problem["input"])
    hint = did_you_mean(received.strip("'"), message.partition("must be one of ")[2].split(", "))
    return f"{name}: {message[0].lower()}{message[1:]}; got {received}{'.' if hint else ''}{hint}"
