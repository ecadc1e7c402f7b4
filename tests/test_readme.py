"""The README's code prints what the README shows; commands, options and make targets in all pages exist."""

from __future__ import annotations

import contextlib
import io
import re
import shlex

import click
import pytest

from masker.errors import MaskerError
from tests.pages import PAGES, README, ROOT, blocks, command_lines


def test_the_python_block_prints_the_text_block(tmp_path, monkeypatch):
    """Labels and decisions exactly; figures may differ in their last digits from machine to machine."""
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(blocks(README, "python")[0], "README.md", "exec"), {})
    expected = blocks(README, "text")[0].strip().splitlines()
    printed = out.getvalue().strip().splitlines()
    assert [re.sub(r"\d\.\d+", "#", line) for line in printed] == [re.sub(r"\d\.\d+", "#", line) for line in expected]
    assert (tmp_path / "intents" / "masker.json").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_exist(page):
    text = page.read_text(encoding="utf-8")
    code = "\n".join([*blocks(page, "sh", ""), *re.findall(r"`([^`\n]+)`", text)])
    known = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for words in re.findall(r"^make ([a-z0-9 -]+)", code, re.MULTILINE):
        assert set(words.split()) <= known, f"{page.name}: make {words}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_parse(page, monkeypatch):
    """Every ``masker ...`` line of a shell block has a known command, known options and complete arguments."""
    from masker.cli import cli

    monkeypatch.setattr("torch.cuda.device_count", lambda: 8)  # pages name devices that this machine may lack
    for line in command_lines("\n".join(blocks(page, "sh", ""))):
        words = shlex.split(line, comments=True)
        if "masker" in words and words[:1] != ["pip"]:  # also behind a pipe, a variable, or torchrun -m
            words = words[words.index("masker") + 1 : words.index(">") if ">" in words else None]
            _parse(cli, words, f"{page.name}: {line}")


def _parse(command: click.Command, words: list[str], where: str) -> None:
    try:
        while isinstance(command, click.Group):
            assert words and words[0] in command.commands, where
            command, words = command.commands[words[0]], words[1:]
        command.make_context(str(command.name), list(words))
    except (click.ClickException, MaskerError) as error:
        pytest.fail(f"{where}\n{error}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_are_valid(page):
    for code in blocks(page, "python"):
        compile(code, page.name, "exec")


#: Options of other programs that a page names.
FOREIGN_OPTIONS = {
    "cluster.md": {
        "--max-restarts", "--multi", "--nnodes", "--nproc-per-node", "--num", "--port", "--rdzv-backend",
        "--rdzv-endpoint", "--rdzv-id", "--standalone",
    },
    "choosing-settings.md": {"--nproc-per-node", "--standalone"},
    "CONTRIBUTING.md": {"--strict"},
    "reliability.md": {"--again", "--require-hashes"},
}  # fmt: skip


def test_every_option_named_in_the_docs_exists():
    from masker.cli import cli

    known = {option for command in _commands(cli) for parameter in command.params for option in parameter.opts}
    for page in PAGES:
        for option in set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", page.read_text(encoding="utf-8"))):
            assert option in known | FOREIGN_OPTIONS.get(page.name, set()) | {"--help", "--version"}, (
                f"{page.name}: {option}"
            )


def _commands(group):
    for command in group.commands.values():
        yield command
        if isinstance(command, click.Group):
            yield from _commands(command)
