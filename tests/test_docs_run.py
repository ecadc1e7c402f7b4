"""The code blocks of the documentation are run, page by page and in order, as a reader would.

Python and ``masker`` commands run with a tiny encoder in a folder that has the files the pages name. What takes hours,
a network, a GPU or a cluster is parsed only (``test_readme.py``); :func:`reason_to_skip` says what that is. Pages
repeat each other, so the fast suite runs a command with the same options once, and trains each method once (otherwise
``--plan``); ``make test-slow`` runs all of them.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import shlex
import shutil
import subprocess
import threading
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import pytest

from tests.cli.command_line import run
from tests.conftest import make_corpus
from tests.pages import PAGES, ROOT, Block, all_blocks, blocks, command_lines

#: Words in capitals that stand for something of the reader's.
PLACEHOLDERS = {
    "DATA": "train.csv", "MODEL": "mine", "NEW": "new.csv", "TEST": "test.csv", "OTHER": "unrelated.csv",
    "NAME": "vanilla", "TRAINING_DATA": "train.csv",
}  # fmt: skip
#: Corpora, hub models and data sets: these need a network.
REMOTE = re.compile(r"^(imdb|mnli|20newsgroups|reuters|banking77)(:\w+)?$|^[\w.-]+/[\w.-]+(:\w+)?$|^distil|-base$")
#: Code of a library that is not installed here: checked for syntax only.
ABSENT = ("setfit", "SetFit")
ADDRESS = "127.0.0.1:8000"
#: Commands that take a second or more.
HEAVY = ("train", "audit", "export", "evaluate")
#: Commands that draw, or plan all recipes: left to the slow suite, and to tests of their own.
FIGURES = ("report", "reproduce")
#: Commands that make a model, and what stands in for it where the fast suite leaves them out.
MAKES = {"train": "model", "extend": "model", "export": "served"}
_OTHER_TOPICS = {
    "tax": "invoice tax form deadline receipt office income deduction".split(),
    "music": "guitar melody drum concert violin tempo chorus singer".split(),
}


def reason_to_skip(words: list[str]) -> str:
    """Why a command is only parsed; empty if it is run."""
    command, options = words[0], words[1:]
    if command in ("demo", "serve") or (command == "reproduce" and not {"--list", "--dry-run"} & set(options)):
        return "takes minutes, hours, or for ever"
    if command == "data" and options[:1] == ["fetch"]:
        return "needs a network"
    if {"--engine", "--address"} & set(options):
        return "needs a cluster"
    if any(word.startswith(("cuda", "mps")) for word in options):
        return "needs a GPU"
    remote = [word for word in options if REMOTE.search(word) and not Path(word).exists() and not word.startswith("./")]
    return f"needs a network for {remote[0]}" if remote and command != "reproduce" else ""


def write_table(path: Path, texts: list[str], label: list[str] | None = None, **more: list[str]) -> None:
    columns = {"text": texts, **({} if label is None else {"label": label}), **more}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def write_files(folder: Path) -> None:
    """The files that the pages name."""
    for seed, name in enumerate(("train", "data", "messages", "reviews", "test", "held_out", "recent", "labelled")):
        write_table(folder / f"{name}.csv", *make_corpus(48, seed))
    foreign, _ = make_corpus(40, 9, _OTHER_TOPICS)
    mixed = make_corpus(20, 10)[0] + foreign
    for name in ("new", "today", "texts"):
        write_table(folder / f"{name}.csv", mixed)
    write_table(
        folder / "log.csv", mixed, time=[f"2026-01-01T{minute // 60:02}:{minute % 60:02}" for minute in range(60)]
    )
    for name in ("unrelated", "other-domain"):
        write_table(folder / f"{name}.csv", foreign)
    write_table(folder / "other-domain.csv", *make_corpus(24, 11))
    pairs, labels = make_corpus(48, 12)
    write_table(folder / "pairs.csv", pairs, labels, text_pair=pairs[::-1])
    several = [";".join(sorted({label, labels[0]}) if index % 3 else [label]) for index, label in enumerate(labels)]
    for name in ("tickets", "more-tickets"):
        write_table(folder / f"{name}.csv", pairs, labels=[*several[:-1], ""])
    write_table(folder / "ratings.csv", pairs, [str(index % 5) for index in range(48)])
    with (folder / "tickets.csv").open("w", newline="", encoding="utf-8") as file:
        both = (
            [text, label if index % 4 else f"{label};other"]
            for index, (text, label) in enumerate(zip(pairs, labels, strict=True))
        )
        csv.writer(file).writerows([["text", "labels"], *both])
    (folder / "words.txt").write_text("rocket\nbread\ngoal\n")
    (folder / "texts.txt").write_text("\n".join(foreign[:3]))
    (folder / "news.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in foreign))


@pytest.fixture(scope="session")
def desk(tiny_backbones, tmp_path_factory):
    """A folder with models and the files that the pages name; each page gets a copy."""
    from masker import Documents, Model
    from masker.config import build_settings

    folder = tmp_path_factory.mktemp("desk")
    write_files(folder)
    shutil.copytree(tiny_backbones["bert"], folder / "my-encoder")
    for name, method in (("model", "masker"), ("other-model", "vanilla")):
        settings = build_settings(
            {
                "model": {"backbone": tiny_backbones["bert"]},
                "training": {"method": method, "epochs": 1},
                "detection": {"false_alarm_rate": 0.3},  # an encoder that knows no words is to reject some texts
            }
        )
        texts, labels = make_corpus(60)
        Model.fit(Documents(texts, None, labels, "desk"), settings, folder / "work").save(folder / name)
        shutil.rmtree(folder / "work")
    shutil.copytree(folder / "model", folder / "my-model")
    done = run("export", str(folder / "model"), "--int8", "--output", str(folder / "served"))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def reader(desk, quick_trainings, tmp_path, monkeypatch):
    """Somebody in front of a copy of the desk, whose trainings take a second."""
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))
    shutil.copytree(desk, tmp_path / "desk")
    monkeypatch.chdir(tmp_path / "desk")
    return Reader(desk)


class Reader:
    """Types what a page says."""

    #: Commands with their options that were typed, on any page.
    typed: ClassVar[set[tuple[str, ...]]] = set()

    def __init__(self, desk: Path, *, patient: bool = False) -> None:
        import masker

        self.desk, self.patient = desk, patient
        self.printed = ""
        texts, labels = make_corpus(48, 2)
        self.names = {
            "texts": texts, "labels": labels, "held_out_texts": texts, "held_out_labels": labels,
            "batches": [texts[:8], texts[8:16]], "MaskerClassifier": masker.MaskerClassifier, "Model": masker.Model,
        }  # fmt: skip

    def follow(self, block: Block, address: str) -> None:
        code = block.code.replace(ADDRESS, address)
        if block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(code, encoding="utf-8")
        if block.language == "sh":
            for line in command_lines(code):
                self.type(line)
        elif block.language == "python" and not self.skips(code):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, block.title or "block", "exec"), self.names)
            self.printed = out.getvalue()

    def skips(self, code: str) -> bool:
        """Whether Python is checked for syntax only: a library is absent, an ellipsis stands for code, or it draws."""
        drawn = "masker.report." in code and not self.patient
        return drawn or "…" in code or any(name in code for name in ABSENT)

    def type(self, line: str) -> None:
        words = [PLACEHOLDERS.get(word, word) for word in shlex.split(line, comments=True)]
        if words[:1] == ["curl"] and shutil.which("curl"):
            answer = subprocess.run(words, check=True, capture_output=True, text=True).stdout
            assert "error" not in json.loads(answer), answer
        if (
            "masker" not in words
            or words[0] not in ("masker", "cat")
            or reason_to_skip(words[words.index("masker") + 1 :])
        ):
            return
        text = Path(words[1]).read_text() if words[0] == "cat" else ""
        words, target = words[words.index("masker") + 1 :], None
        if ">" in words:
            words, target = words[: words.index(">")], words[words.index(">") + 1]
        made = Path(words[words.index("--output") + 1]) if "--output" in words else Path("review.csv")
        if words[0] in MAKES and "--output" in words:
            shutil.rmtree(made, ignore_errors=True)
        new = self.patient or self.is_new(words)
        if new or words[0] == "train":
            hurried = [] if self.patient or words[0] != "train" else ["--no-report"] if new else ["--plan"]
            done = run(*words, *hurried, text=text)
            assert done.returncode in (0, 3 if words[0] == "monitor" else 0), f"{line}\n{done.stderr}"
            self.printed = done.stdout
        if target is not None:
            Path(target).write_text(self.printed, encoding="utf-8")
        self.tidy(words, made)

    def is_new(self, words: list[str]) -> bool:
        """Whether the fast suite has to run a command: a quick one, or one with options that were not typed before."""
        options = [word for word in words if word.startswith("-")]
        if words[0] == "train":  # what is trained; whether other options fit the data, the plan says as well
            options = [
                word for before, word in pairwise(words) if before in ("train", "--method", "--head", "--preset")
            ]
        shape = (words[0], *sorted(options))
        known = shape in self.typed
        self.typed.add(shape)
        return words[0] not in FIGURES and not (known and words[0] in HEAVY)

    def tidy(self, words: list[str], made: Path) -> None:
        """Leave what the next line needs: good models though trainings are short, labels that a reader fills in."""
        if words[0] in MAKES and "--output" in words and (words[0] == "train" or not made.exists()):
            source = self.desk / MAKES[words[0]]
            if source.is_dir() and not {"--plan", "--head", "--missed-rate"} & set(words):
                shutil.rmtree(made, ignore_errors=True)
                shutil.copytree(source, made)
        if words[0] == "review":
            with made.open(encoding="utf-8", newline="") as file:
                texts = [row["text"] for row in csv.DictReader(file)]
            write_table(made, texts, ["food"] * len(texts))


@pytest.fixture
def served(request):
    """The address of a service of the desk's model; empty for a page that asks none."""
    if ADDRESS not in "".join(blocks(request.getfixturevalue("page"), "sh", "python")):
        yield ""
        return
    import uvicorn

    from masker import Model
    from masker.service import create_app

    app = create_app(Model.open(request.getfixturevalue("desk") / "model"))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.05)
    yield f"127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


WITH_BLOCKS = [page for page in PAGES if blocks(page, "sh", "python")]


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: page.name)
def test_blocks_run(page, reader, served):
    for block in all_blocks(page):
        reader.follow(block, served)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: page.name)
def test_all_blocks_run(page, reader, served):
    reader.patient = True
    for block in all_blocks(page):
        reader.follow(block, served)


@pytest.mark.slow
def test_the_quickstart_prints_what_it_shows(tmp_path, monkeypatch):
    """With the real encoder: labels and decisions exactly; figures may differ from machine to machine."""
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path / "no-desk", patient=True)
    compared = 0
    for block in all_blocks(ROOT / "docs" / "quickstart.md"):
        if block.language == "text":
            printed, shown = (re.sub(r"\d+\.\d+", "#", text.strip()) for text in (reader.printed, block.code))
            assert printed.splitlines() == shown.splitlines()
            compared += 1
        else:
            reader.follow(block, ADDRESS)
    assert compared == 2
