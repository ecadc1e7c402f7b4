"""Writes requirements.lock: what is installed now, with the sha256 of every file that pip could install for it.

    python tools/lock.py            # the versions that are installed
    python tools/lock.py --again    # the versions in the lock, for instance to add the files of another index

A version has many files, for processors, systems and versions of Python, and another index may have builds of its own
("+cpu"). All that the indexes and folders of pip's configuration list are taken, so the lock holds wherever one of them
is installed. Hashes that the lock has for the same version stay: an index that is out of reach now loses no files.

PyTorch is in requirements-torch.lock, without hashes. Given those of several builds, pip takes one whose hash an index
states over one in a folder, so CUDA's over the small one for the CPU that a machine was set up to have.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

# pip's own eyes: indexes in HTML and JSON, folders, credentials, certificates and proxies are read as it reads them.
from pip._internal.commands import create_command
from pip._internal.index.collector import IndexContent, LinkCollector, parse_links
from pip._internal.models.link import Link
from pip._vendor.packaging.utils import parse_sdist_filename, parse_wheel_filename

LOCK = Path(__file__).parent.parent / "requirements.lock"
TORCH_LOCK = LOCK.with_name("requirements-torch.lock")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def read_lock(text: str) -> dict[str, set[str]]:
    """Each requirement, ``name==version``, and its hashes."""
    lines = text.replace("\\\n", " ").splitlines()
    return {line.split()[0]: set(_HASH.findall(line)) for line in lines if line.strip() and not line.startswith("#")}


def write_lock(locked: dict[str, set[str]]) -> str:
    """The text of a lock, one hash a line."""
    return "".join(
        " \\\n    ".join([requirement, *(f"--hash=sha256:{value}" for value in sorted(hashes))]) + "\n"
        for requirement, hashes in locked.items()
    )


def installed() -> list[str]:
    """``name==version`` of all that is installed, but for what only one index calls a build, ``+cpu``."""
    freeze = [sys.executable, "-m", "pip", "freeze", "--exclude-editable", "--all", "--exclude", "pip"]
    lines = subprocess.run(freeze, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.partition("+")[0] for line in lines]


def version_of(filename: str) -> str | None:
    """The public version that a file installs; ``None`` if it is no wheel or source archive."""
    try:
        if filename.endswith(".whl"):
            return parse_wheel_filename(filename)[1].public
        return parse_sdist_filename(filename)[1].public
    except ValueError:
        return None


def make_collector() -> LinkCollector:
    """What pip would look for files with, as it is configured here."""
    logging.getLogger("pip").setLevel(logging.ERROR)  # it warns of each index that lacks a package
    command: Any = create_command("download")
    options, _ = command.parse_args([])
    return LinkCollector.create(command._build_session(options), options=options)


def links(collector: LinkCollector, name: str) -> Iterator[Link]:
    """All files of a project, of any version, in any place."""

    def on_page(page: Link) -> list[Any]:
        content: IndexContent | None = collector.fetch_response(page)
        return [] if content is None else list(parse_links(content))

    found = collector.collect_sources(re.sub(r"[-_.]+", "-", name).lower(), on_page)
    for source in chain(found.find_links, found.index_urls):
        if source is not None:
            yield from source.file_links()
            yield from source.page_candidates()  # type: ignore[misc]  # what on_page returns


def sha256(link: Link) -> str | None:
    """The hash that the index states, or that of a file in a folder."""
    if link.hash_name == "sha256":
        return link.hash
    if link.is_file:
        return hashlib.sha256(Path(link.file_path).read_bytes()).hexdigest()
    return None


def hashes_of(collector: LinkCollector, requirement: str) -> set[str]:
    """The hashes of all files of a version."""
    name, _, version = requirement.partition("==")
    normal = version_of(f"{name}-{version}.tar.gz")
    if normal is None:
        return set()  # "name @ file:///…", which no index has
    files = [link for link in links(collector, name) if version_of(link.filename) == normal]
    return {value for value in map(sha256, files) if value is not None}


def main() -> None:
    """Write the lock, or say which packages no index has hashes for, and leave it."""
    parser = argparse.ArgumentParser(description="Write requirements.lock with hashes.")
    parser.add_argument("--again", action="store_true", help="the versions in the lock, not those installed")
    options = parser.parse_args()
    old = read_lock(LOCK.read_text(encoding="utf-8"))
    chosen = list(old) if options.again else installed()
    torch = [one for one in chosen if one.startswith("torch==")]
    requirements = [one for one in chosen if one not in torch]
    collector = make_collector()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda requirement: hashes_of(collector, requirement), requirements))
    if bare := [one for one, hashes in zip(requirements, found, strict=True) if not hashes]:
        sys.exit(f"no index that pip knows of lists a hash for {', '.join(bare)}; {LOCK.name} is as it was")
    locked = {one: hashes | old.get(one, set()) for one, hashes in zip(requirements, found, strict=True)}
    LOCK.write_text(write_lock(locked), encoding="utf-8")
    if torch:
        TORCH_LOCK.write_text(write_lock({torch[0]: set()}), encoding="utf-8")
    print(f"{LOCK.name}: {len(locked)} packages, {sum(map(len, locked.values()))} files", file=sys.stderr)


if __name__ == "__main__":
    main()
