"""The site builds without a warning, loads nothing from elsewhere, and has the parts that come from the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT

pytest.importorskip("mkdocs", reason="mkdocs is not installed; pip install 'masker[docs]'")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # as make docs: news about another program
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site):
    """Scripts, styles, pictures, fonts and frames are files of the site; links in the text may lead anywhere."""
    loaded = re.compile(
        r"<(?:script|img|iframe|source|video|audio|embed|object|link)\b[^>]*?(?:src|href|data)=[\"']?([^\"' >]+)"
    )
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        for address in loaded.findall(page.read_text(encoding="utf-8")):
            assert not re.match(r"(?:\w+:)?//", address) or address.startswith("data:"), f"{page.name} loads {address}"
    for style in site.rglob("*.css"):
        for address in re.findall(r"(?:url\(|@import )[\"']?([^\"') ]+)", style.read_text(encoding="utf-8")):
            assert not re.match(r"(?:\w+:)?//", address), f"{style.name} loads {address}"


def test_every_picture_is_there(site):
    """Also those outside ``docs/``, such as the figures of the paper."""
    shown = 0
    for page in site.rglob("*.html"):
        for address in re.findall(r"<img\b[^>]*?src=[\"']?([^\"' >]+)", page.read_text(encoding="utf-8")):
            if not address.startswith("data:"):
                picture = page.parent / address
                assert picture.suffix in (".svg", ".png") and picture.is_file(), f"{page.name} shows {address}"
                shown += 1
    assert shown > 8


def test_what_fetches_scripts_by_itself_is_not_used(site):
    """The theme fetches Mermaid from a server where a page has a diagram."""
    for page in site.rglob("*.html"):
        assert 'class="mermaid"' not in page.read_text(encoding="utf-8"), page.name


def test_every_command_option_and_setting_is_in_the_reference(site):
    from masker.cli import cli
    from masker.config import Settings

    commands = (site / "command-line.html").read_text(encoding="utf-8")
    for name, command in cli.commands.items():
        assert f"masker {name}" in commands
        for parameter in command.params:
            for option in parameter.opts if not parameter.opts[0].isidentifier() else ():
                assert option in commands, f"masker {name} {option}"
    settings = (site / "settings.html").read_text(encoding="utf-8")
    for name, section in Settings():
        for key, _ in section:
            assert f"{name}.{key}<" in settings, f"{name}.{key}"


def test_every_public_name_is_in_the_reference(site):
    import masker

    page = (site / "api.html").read_text(encoding="utf-8")
    homes = masker._HOMES
    for name in masker.__all__:
        assert f'id="{homes[name]}.{name}"' in page or name == "Settings", name
    assert "settings.html" in page  # the settings have a page of their own
