"""Reading the pages that masker writes."""

from __future__ import annotations

from html.parser import HTMLParser

_VOID = {"meta", "br", "hr", "img", "link"}


class Tree(HTMLParser):
    """Checks that tags are closed in order; collects them, what the page links to or runs, and its text."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.links, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        self.links += [name for name, _ in attrs if name.startswith("on")]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text.append(data)


def read_page(page: str) -> Tree:
    """The tree of a page, all of whose tags are closed."""
    tree = Tree()
    tree.feed(page)
    assert tree.open == []
    return tree
