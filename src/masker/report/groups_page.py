"""The page of discovered groups: one self-contained HTML file in the style of the report."""

from __future__ import annotations

from html import escape
from pathlib import Path

from masker.discovery import Discovery, TextGroup
from masker.discovery.text_groups import discovery_sentence
from masker.files import write_text
from masker.report.plain_text import plain_text
from masker.report.theme import style_variables

PAGE = "groups.html"
_STYLE = Path(__file__).parent / "templates" / "report.css"
#: Characters of an example.
_LONGEST = 400


def write_groups_page(found: Discovery, folder: Path) -> Path:
    """Write the page into a folder."""
    write_text(folder / PAGE, groups_page(found))
    return folder / PAGE


def groups_page(found: Discovery) -> str:
    """The page as HTML text."""
    light, dark = style_variables(dark=False), style_variables(dark=True)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>Groups: {_shown(found.data)}</title>",
            f"<style>:root {{ {light} }}",
            f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}",
            f"{_STYLE.read_text(encoding='utf-8')}</style></head><body>",
            f"<header><h1>Groups of <bdi>{_shown(found.data)}</bdi></h1>",
            f'<p class="muted">model <bdi>{_shown(found.model)}</bdi></p></header>',
            f'<main><p class="conclusion">{escape(discovery_sentence(found))}</p>',
            '<p class="muted">Novelty is the distance from the nearest known class; at 1 it is that between the halves '
            "of the class. Cohesion is the mean cosine with the centre of the group. The page quotes texts: mind who "
            "gets to see it.</p>",
            *_table(found),
            *(part for number, group in enumerate(found.groups, 1) for part in _section(number, group)),
            "</main></body></html>",
            "",
        ]
    )


def _table(found: Discovery) -> list[str]:
    headings = ["texts", "cohesion", "novelty"]
    lines = ['<div class="table"><table>', "<tr><th>group</th><th>nearest class</th><th>verdict</th>"]
    lines += [f'<th class="number">{heading}</th>' for heading in headings] + ["</tr>"]
    for number, group in enumerate(found.groups, 1):
        lines += [
            f'<tr><td class="name"><a href="#group-{number}"><bdi>{_shown(group.name)}</bdi></a></td>'
            f'<td class="name"><bdi>{_nearest(group)}</bdi></td><td>{_verdict(group)}</td>'
            f'<td class="number">{group.texts:,}</td><td class="number">{group.cohesion:.2f}</td>'
            f'<td class="number">{_novelty(group)}</td></tr>'
        ]
    return [*lines, "</table></div>"]


def _section(number: int, group: TextGroup) -> list[str]:
    terms = ", ".join(_shown(term) for term in group.terms)
    lines = [
        f'<section id="group-{number}"><h2><bdi>{_shown(group.name)}</bdi></h2>',
        f'<p class="muted">{group.texts:,} texts; {_verdict(group)}; nearest class <bdi>{_nearest(group)}</bdi>; '
        f"words: <bdi>{terms}</bdi></p>",
    ]
    for title, texts in (("From the middle", group.middle), ("From the edge", group.edge)):
        if texts:
            quotes = "".join(f"<li><bdi>{_shown(text)}</bdi></li>" for text in texts)
            lines.append(f'<h3>{title}</h3><ul class="quotes">{quotes}</ul>')
    return [*lines, "</section>"]


def _nearest(group: TextGroup) -> str:
    return "–" if group.nearest is None else _shown(str(group.nearest))


def _verdict(group: TextGroup) -> str:
    return {True: "new", False: "perhaps a part of that class", None: "–"}[group.is_new]


def _novelty(group: TextGroup) -> str:
    return "–" if group.novelty is None else f"{group.novelty:.2f}"


def _shown(text: str) -> str:
    plain = plain_text(text)
    return escape(plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]}…")
