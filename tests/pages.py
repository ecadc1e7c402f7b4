"""The pages of the documentation and the code blocks in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
_FENCE = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```', re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A code block; one with a title is the file of that name."""

    language: str
    title: str
    code: str


def all_blocks(page: Path) -> list[Block]:
    """The code blocks of a page, in order."""
    return [Block(*found) for found in _FENCE.findall(page.read_text(encoding="utf-8"))]


def blocks(page: Path, *languages: str) -> list[str]:
    """The code of the blocks in these languages; ``""`` is a block without one."""
    return [block.code for block in all_blocks(page) if block.language in languages]


def command_lines(code: str) -> list[str]:
    """The lines of a shell block, continued ones joined."""
    return [line for line in re.sub(r"\\\n\s*", " ", code).splitlines() if line.strip()]
