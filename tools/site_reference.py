"""Reference tables of the site, made from the code: all settings, and all commands with their options."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import click

SECTIONS = Path(__file__).parent.parent / "src" / "masker" / "config_sections.py"
_SIGNS = {"Ge": ("≥", "ge"), "Gt": (">", "gt"), "Le": ("≤", "le"), "Lt": ("<", "lt")}


def settings_tables() -> str:
    """A table of each section of the settings: name, default, what is allowed, and what its comment says."""
    from masker.config import AuditSettings, Settings

    source = SECTIONS.read_text(encoding="utf-8")
    parts = []
    for name, section in [*Settings(), ("audit", AuditSettings())]:
        body = source.split(f"class {type(section).__name__}(")[1].split("\nclass ")[0]
        fields = type(section).model_fields
        rows = [_setting(name, key, fields[key], default, body) for key, default in section]
        said = _plain(inspect.getdoc(section) or "")
        parts.append(
            "\n".join(
                [f"## {name}\n\n{said}\n", "| setting | default | allowed | |", "| --- | --- | --- | --- |", *rows]
            )
        )
    return "\n\n".join(parts)


def _setting(section: str, key: str, field: Any, default: object, body: str) -> str:
    found = re.search(rf"((?:^    #: .*\n)*)^    {key}: (.+?)(?: = .*)?$", body, re.MULTILINE)
    assert found is not None, f"{section}.{key}"
    comment = _plain(re.sub(r"\s*#: ", " ", found[1]).strip())
    kind = re.sub(r"^Annotated\[(.*?), .*\]$", r"\1", found[2])
    kind = re.sub(r"Literal\[(.*?)\]", lambda one: one[1].replace('"', "`"), kind).replace("|", "or")
    rules = {type(rule).__name__: rule for rule in field.metadata}
    limits = [f"{sign} {getattr(rules[rule], name):g}" for rule, (sign, name) in _SIGNS.items() if rule in rules]
    return f"| `{section}.{key}` | `{default}` | {' '.join([kind, ', '.join(limits)])} | {comment} |"


def _plain(text: str) -> str:
    """Markdown of a docstring or comment: no roles of Sphinx, single backticks."""
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`").replace("|", "\\|")


def command_pages() -> str:
    """A part for each command: what it says of itself, and its options in the sections of its help."""
    from masker.cli import cli

    return "\n\n".join(_pages(cli, "masker"))


def _pages(group: click.Group, path: str) -> list[str]:
    pages = []
    for name in group.list_commands(click.Context(group)):
        command = group.commands[name]
        if isinstance(command, click.Group):
            pages += _pages(command, f"{path} {name}")
        else:
            pages.append(_page(command, f"{path} {name}"))
    return pages


def _page(command: click.Command, path: str) -> str:
    context = click.Context(command, info_name=path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    # \b starts lines that click keeps as they are.
    said = re.sub(
        r"^\x08\n(.*?)(?=\n\n|\Z)", r"```text\n\1\n```", inspect.cleandoc(command.help or ""), flags=re.S | re.M
    )
    collected = _Rows()
    command.format_options(context, collected)
    tables = [
        "\n".join(
            [f"| {title.lower()} | |", "| --- | --- |", *(f"| `{name}` | {_cell(help)} |" for name, help in rows)]
        )
        for title, rows in collected.sections
    ]
    return "\n\n".join([f"## {path}", f"```text\n{usage}\n```", said, *tables])


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").replace("[", "\\[")


class _Rows(click.HelpFormatter):
    """Takes the options that a command writes into its help, section by section."""

    def __init__(self) -> None:
        super().__init__()
        self.sections: list[tuple[str, list[tuple[str, str]]]] = []

    def section(self, name: str) -> Any:
        self.sections.append((name, []))
        return super().section(name)

    def write_dl(self, rows: Any, *args: Any, **named: Any) -> None:
        self.sections[-1][1].extend(rows)
