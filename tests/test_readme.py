"""The README's code prints what the README shows; commands, options and make targets in all pages exist."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import click
import pytest

from masker.errors import MaskerError

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, *languages: str) -> list[str]:
    """The code blocks of a page in these languages; ``""`` is a block without one."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [code for language, code in found if language in languages]


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
    for line in "\n".join(blocks(page, "sh", "")).replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["masker"]:
            words = words[1 : words.index(">") if ">" in words else None]
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


#: Options of torchrun, accelerate and ray, which the page on clusters names too.
FOREIGN_OPTIONS = {
    "--max-restarts", "--multi", "--nnodes", "--nproc-per-node", "--num", "--port", "--rdzv-backend",
    "--rdzv-endpoint", "--rdzv-id", "--standalone",
}  # fmt: skip


def test_every_option_named_in_the_docs_exists():
    from masker.cli import cli

    known = {option for command in _commands(cli) for parameter in command.params for option in parameter.opts}
    for page in PAGES:
        for option in set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", page.read_text(encoding="utf-8"))):
            foreign = FOREIGN_OPTIONS if page.name == "cluster.md" else set()
            assert option in known | foreign | {"--help"}, f"{page.name}: {option}"


def _commands(group):
    for command in group.commands.values():
        yield command
        if isinstance(command, click.Group):
            yield from _commands(command)
