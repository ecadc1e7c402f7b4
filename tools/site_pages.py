"""What ``mkdocs.yml`` cannot say: pages made from files outside ``docs/`` (a hook of mkdocs).

- SECURITY.md, CONTRIBUTING.md, CHANGELOG.md and examples/README.md of the repository are pages of the site.
- A link to any other file of the repository, such as ``../src/masker/model.py``, leads to a page that shows the file;
  a picture is taken as it is.
- ``<!-- settings -->`` and ``<!-- commands -->`` become tables made from the code (``site_reference.py``).
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from site_reference import command_pages, settings_tables

ROOT = Path(__file__).parent.parent
#: Files of the repository that are pages, and their names on the site.
PAGES = {
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "examples.md",
}
LANGUAGES = {".py": "python", ".json": "json", ".yaml": "yaml", ".toml": "toml", ".md": "markdown", ".ipynb": "json"}
#: Endings of files that pages show instead of leading to them.
PICTURES = (".svg", ".png")
#: A longer file is cut: its page would be larger than the rest of the site.
LONGEST = 60_000
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")
#: Docstrings name classes with a role of Sphinx, which Markdown would show.
ROLE = re.compile(r":(?:class|data|func|meth|mod):(?=<code>)")
#: On disk a link names the file; on the site it names the page.
NAMED_BY_FILE = re.compile(r"\[([\w-]+\.md)\](?=\(\1[#)])")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def target_of(page: str, link: str) -> str | None:
    """The file of the repository that a link leads to, relative to it; ``None`` for a page or picture of ``docs/``."""
    if re.match(r"\w+:", link):
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    if path in PAGES or not path.startswith("docs/"):
        return path
    return None


def place_of(target: str) -> str:
    """Where the site has a file or folder of the repository: a picture as it is, any other as a page."""
    if target.endswith(PICTURES):
        return f"source/{target}"
    return PAGES.get(target, f"source/{target}.md" if target != "." else "index.md")


def title_of(name: str) -> str:
    """The title of a page of ``docs/``."""
    path = ROOT / "docs" / name
    first = path.read_text(encoding="utf-8").partition("\n")[0] if path.is_file() else name
    return first.removeprefix("# ")


def linked_files() -> set[str]:
    """All files and folders that pages link to and that have no page of their own."""
    found: set[str] = set()
    for page in [*sorted((ROOT / "docs").glob("*.md")), *(ROOT / name for name in PAGES)]:
        prose = FENCED.sub("", page.read_text(encoding="utf-8"))
        targets = (target_of(page.relative_to(ROOT).as_posix(), link) for _, link, _ in LINK.findall(prose))
        found |= {target for target in targets if target is not None and target not in PAGES and target != "."}
    return {target for target in found if (ROOT / target).exists()}  # strict mode reports links to the others


def shown(target: str) -> str:
    """The page of a file, or of a folder with the names in it."""
    path = ROOT / target
    head = f"---\nsearch: {{exclude: true}}\nhide: [navigation]\n---\n\n# `{target}`\n\n"
    if path.is_dir():
        names = sorted(entry.name + "/" * entry.is_dir() for entry in path.iterdir() if not entry.name.startswith("__"))
        return head + "\n".join(f"- `{name}`" for name in names) + "\n"
    text = path.read_text(encoding="utf-8")
    cut = "" if len(text) <= LONGEST else f"\nThe first {LONGEST:,} of {len(text):,} characters.\n"
    return f"{head}````{LANGUAGES.get(path.suffix, '')}\n{text[:LONGEST]}\n````\n{cut}"


def _by_title(match: re.Match[str]) -> str:
    return f"[{title_of(match[1])}]"


# What mkdocs calls -------------------------------------------------------------------------------------------------


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made from files outside ``docs/``."""
    from mkdocs.structure.files import File

    for name, place in PAGES.items():
        files.append(File.generated(config, place, content=(ROOT / name).read_text(encoding="utf-8")))
    for target in sorted(linked_files()):
        content = (ROOT / target).read_bytes() if target.endswith(PICTURES) else shown(target)
        files.append(File.generated(config, place_of(target), content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Lead links out of ``docs/`` to the pages made for them."""
    if page.file.src_uri.startswith("source/"):
        return markdown
    origins = {place: name for name, place in PAGES.items()}
    origin = origins.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def lead(match: re.Match[str]) -> str:
        opening, link, anchor = match.groups()
        target = target_of(origin, link)
        if target is not None:
            return f"{opening}{place_of(target)}{anchor or ''}"
        if origin in PAGES and not re.match(r"\w+:", link):
            page = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))
            return f"{opening}{page.removeprefix('docs/')}{anchor or ''}"
        return match.group(0)

    parts = re.split(r"(^```.*?^```)", markdown, flags=re.DOTALL | re.MULTILINE)
    prose = [part if part.startswith("```") else NAMED_BY_FILE.sub(_by_title, LINK.sub(lead, part)) for part in parts]
    text = "".join(prose)
    for marker, made in (("<!-- settings -->", settings_tables), ("<!-- commands -->", command_pages)):
        text = text.replace(marker, made()) if marker in text else text
    return text


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Drop the roles of Sphinx from docstrings."""
    return ROLE.sub("", html)
