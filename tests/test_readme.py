"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)[number]


def test_the_python_block_prints_what_stands_below_it(tmp_path, monkeypatch):
    """Labels and decisions exactly; figures may differ in their last digits from machine to machine."""
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block("python"), "README.md", "exec"), {})
    expected = block("text").strip().splitlines()
    printed = out.getvalue().strip().splitlines()
    assert [re.sub(r"\d\.\d+", "#", line) for line in printed] == [re.sub(r"\d\.\d+", "#", line) for line in expected]
    assert (tmp_path / "intents" / "masker.json").is_file()


def test_the_two_commands_exist():
    makefile = (Path(__file__).parent.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w[\w-]*)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


#: Options of torchrun, accelerate and ray, which the page on clusters names, too.
FOREIGN_OPTIONS = {
    "--max-restarts", "--multi", "--nnodes", "--nproc-per-node", "--num", "--port", "--rdzv-backend",
    "--rdzv-endpoint", "--rdzv-id", "--standalone",
}  # fmt: skip


def test_every_option_named_in_the_docs_exists():
    from masker.cli import cli

    known = {option for command in _commands(cli) for parameter in command.params for option in parameter.opts}
    root = Path(__file__).parent.parent
    for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        for option in set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", page.read_text(encoding="utf-8"))):
            foreign = FOREIGN_OPTIONS if page.name == "cluster.md" else set()
            assert option in known | foreign | {"--help"}, f"{page.name}: {option}"


def _commands(group):
    import click

    for command in group.commands.values():
        yield command
        if isinstance(command, click.Group):
            yield from _commands(command)
