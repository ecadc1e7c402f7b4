"""Commands that are killed, run out of disk or meet each other: what is left, and what the next run makes of it."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.trust_runs import Ended, content_digest, finish, kind, model_digest, run, start

KILLS, WRITES = 20, 12
#: Megabytes of the disks that get full. A run needs less than the last.
DISKS = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4)
ENOUGH = 64


@dataclass(frozen=True)
class Place:
    """Files that the commands read: a backbone, tables, and once it is trained, a model."""

    folder: Path

    def training(self, output: Path, *extra: str) -> list[str]:
        options = ["--no-report", "--backbone", str(self.folder / "bert"), "--batch-size", "8", "--max-length", "48"]
        options += ["--learning-rate", "2e-3", "--set", "training.precision=fp32", "--set", "training.head_lr_scale=1"]
        return ["train", str(self.folder / "train.jsonl"), "--output", str(output), *options, *extra]


#: Kinds of training that are killed: what is set aside and what is cross-fitted take different ways.
TRAININGS = {
    "split": ("--epochs", "3", "--set", "detection.calibration=split", "--keep-examples", "6"),
    "cross-fitted": ("--epochs", "1", "--set", "detection.calibration=cross-fit"),
    "residual": ("--epochs", "1", "--method", "residual", "--keywords", "frequency"),
}


@contextmanager
def empty(folder: Path) -> Iterator[Path]:
    """A folder that is there and empty, and gone afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def killed_trainings(place: Place, only: Collection[str] = TRAININGS, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Training killed at random moments, and before one write of each kind, then started again."""
    draw = random.Random(seed)
    for name, extra in TRAININGS.items():
        if name not in only:
            continue
        with empty(place.folder / "work") as work:
            command = place.training(work / "model", *extra)
            whole = run(command, work)
            assert whole.code == 0, whole.stderr
            expected = model_digest(work / "model")
        again = partial(_killed_training, command, work, expected)
        times = [draw.uniform(0.0, whole.seconds) for _ in range(KILLS if name == "split" else KILLS // 4)]
        yield {"training": name, "moments": "random", **_tally([again(kill_after=moment) for moment in times])}
        numbers = _one_of_each(whole.writes, draw, WRITES) if name == "split" else _results(whole.writes)[:WRITES]
        yield {"training": name, "moments": "writes", **_tally([again(at_write=number) for number in numbers])}


def _one_of_each(writes: Sequence[str], draw: random.Random, most: int) -> list[int]:
    """The number, from 1, of one write of each kind, of at most so many kinds, evenly over the course of the command.

    The kill comes before the write. So one at a rename finds a file that is written but has no name yet, and one at the
    next opening a file that may not be flushed.
    """
    kinds: dict[str, list[int]] = {}
    for number, write in enumerate(writes, 1):
        if write.startswith(("open", "rename")):
            kinds.setdefault(kind(write), []).append(number)
    numbers = sorted(draw.choice(each) for each in kinds.values())
    return numbers if len(numbers) <= most else [numbers[len(numbers) * place // most] for place in range(most)]


def _results(writes: Sequence[str]) -> list[int]:
    """The numbers of the writes that finish a stage, the bias and the keywords, and of those after them."""
    last = [
        number for number, write in enumerate(writes, 1) if re.match(r"rename .*(result|bias|keywords)\.\w+$", write)
    ]
    return sorted({*last, *(number + 1 for number in last)})


def _killed_training(command: Sequence[str], work: Path, expected: dict[str, str], **moment: Any) -> dict[str, Any]:
    with empty(work):
        first = run(command, work, **moment)
        if not first.killed and "kill_after" in moment:  # it was faster than the run that the moment was drawn from
            return _killed_training(command, work, expected, kill_after=0.7 * moment["kill_after"])
        finished = (work / "model").exists()
        after: Ended | None = None
        if not finished:
            after = run(command, work)
        same = (work / "model").is_dir() and _without_card(model_digest(work / "model")) == _without_card(expected)
        ok = same and (after is None or after.code == 0) and "Traceback" not in (after or first).stderr
        at = kind(first.writes[-1]) if first.writes else None
        resumed = after is not None and "resuming" in after.stderr
        if not ok:
            print(f"{moment} {at}: {(after or first).stderr[-2000:]}", file=sys.stderr)
        return {"ok": ok, "killed": first.killed, "finished": finished, "resumed": resumed, "at": at}


def _without_card(digest: dict[str, str]) -> dict[str, str]:
    """The card is made from the model after it, and ``masker report`` makes it again."""
    return {name: value for name, value in digest.items() if name != "README.md"}


def _tally(cases: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "runs": len(cases),
        "killed": sum(case["killed"] for case in cases),
        "after_the_model": sum(case["finished"] for case in cases),
        "resumed": sum(case["resumed"] for case in cases),
        "same": sum(case["ok"] for case in cases),
        "failed_at": [case["at"] for case in cases if not case["ok"]],
    }


# Other commands -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Writer:
    """A command that writes, and patterns of what it makes, each whole or not at all.

    ``{at}`` is the folder it works in, which holds a model unless it is a recipe's; ``{here}`` is the place.
    """

    command: str
    made: tuple[str, ...]

    def arguments(self, work: Path, place: Place) -> list[str]:
        return [word.format(at=work, here=place.folder) for word in self.command.split()]


WRITERS = {
    "predict": Writer("predict {at}/model {here}/test.jsonl --output {at}/out.jsonl", ("out.jsonl",)),
    "predict, shards": Writer("predict {at}/model {here}/shards --engine local --output {at}/out", ("out/*.jsonl",)),
    "calibrate": Writer("calibrate {at}/model {here}/test.jsonl --false-alarm-rate 0.2", ("model",)),
    "calibrate --output": Writer(
        "calibrate {at}/model {here}/test.jsonl --false-alarm-rate 0.2 --output {at}/out", ("out",)
    ),
    "extend": Writer("extend {at}/model {here}/new.jsonl", ("model",)),
    "export": Writer("export {at}/model", ("model/onnx",)),
    "export --output": Writer("export {at}/model --output {at}/out", ("out",)),
    "report": Writer(
        "report {at}/model --test {here}/test.jsonl --output {at}/out",
        ("out/report.html", "out/report.json", "out/figures/*"),
    ),
    "audit": Writer("audit {at}/model {here}/test.jsonl --output {at}/out", ("out/audit.html", "out/audit.json")),
    "discover": Writer("discover {at}/model {here}/test.jsonl --all --output {at}/out", ("out/*",)),
    "monitor --state": Writer("monitor {at}/model {here}/test.jsonl --state {at}/state.json", ("state.json",)),
    "keywords --output": Writer("keywords {at}/model --output {at}/words.json", ("words.json",)),
    "reproduce": Writer("reproduce {here}/recipe.yaml --output {at}/out", ("out/*/summary.json", "out/*/table.md")),
}


def killed_writers(
    place: Place, only: Collection[str] = WRITERS, most: int = 4, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Each writing command killed before its writes, at most so many of them, then run again."""
    for name, writer in WRITERS.items():
        if name not in only:
            continue
        draw = random.Random(seed)
        with empty(place.folder / "work") as work:
            before = _prepared(place, work, writer)
            whole = run(writer.arguments(work, place), work)
            assert whole.code == 0, (name, whole.stderr)
            states = {"before": before, "after": _state(work, writer)}
        cases = [
            _killed_writer(place, work, writer, states, number) for number in _one_of_each(whole.writes, draw, most)
        ]
        bad = [case for case in cases if not (case["whole_or_none"] and case["again"])]
        found = {
            "whole_or_none": sum(case["whole_or_none"] for case in cases),
            "again": sum(case["again"] for case in cases),
        }
        yield {"command": name, "kills": len(cases), **found, "failed_at": [case["at"] for case in bad]}


def _prepared(place: Place, work: Path, writer: Writer) -> dict[str, str]:
    if "{at}/model" in writer.command:
        shutil.copytree(place.folder / "model", work / "model")
    return _state(work, writer)


def _state(work: Path, writer: Writer) -> dict[str, str]:
    """A digest of everything that the command makes and that is there."""
    found = {}
    for pattern in writer.made:
        for path in work.glob(pattern):
            if not path.name.startswith("."):
                found[path.relative_to(work).as_posix()] = _digest(path)
    return found


def _digest(path: Path) -> str:
    if path.is_dir():
        whole = model_digest(path)
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()
    return content_digest(path)


def _killed_writer(
    place: Place, work: Path, writer: Writer, states: dict[str, dict[str, str]], number: int
) -> dict[str, Any]:
    with empty(work):
        _prepared(place, work, writer)
        first = run(writer.arguments(work, place), work, at_write=number)
        left = _state(work, writer)
        before, after = states["before"], states["after"]
        whole = all(value in (before.get(name), after.get(name)) for name, value in left.items())
        whole = whole and all(name in left for name in before)
        again = left == after
        if not again:
            second = run(writer.arguments(work, place), work)
            again = second.code == 0 and _state(work, writer) == after
            if not again:
                print(f"{kind(first.writes[-1])}: {second.code} {second.last_line}", file=sys.stderr)
        return {"whole_or_none": whole, "again": again, "at": kind(first.writes[-1])}


# A full disk ----------------------------------------------------------------------------------------------------------


@contextmanager
def small_disk(folder: Path, megabytes: float) -> Iterator[Callable[[float], None]]:
    """A file system of its own; yields a function that makes it larger. Needs the right to mount."""
    folder.mkdir(parents=True, exist_ok=True)
    size = f"size={int(megabytes * 1024)}k"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)], check=True, capture_output=True)
    try:
        yield lambda more: subprocess.run(
            ["mount", "-o", f"remount,size={int(more * 1024)}k", str(folder)], check=True, capture_output=True
        )
    finally:
        subprocess.run(["umount", str(folder)], check=False, capture_output=True)


def can_mount(place: Place) -> bool:
    try:
        with small_disk(place.folder / "disk", 1):
            return True
    except (OSError, subprocess.SubprocessError):
        return False


def full_disks(place: Place) -> Iterator[dict[str, Any]]:
    """Training on disks that get full, then, with more room, again."""
    expected: dict[str, str] | None = None
    for megabytes in (ENOUGH, *DISKS):
        with small_disk(place.folder / "disk", megabytes) as grow:
            disk = place.folder / "disk"
            command = place.training(disk / "model", *TRAININGS["split"])
            first = run(command, disk)
            if expected is None:
                assert first.code == 0, first.stderr
                expected = _without_card(model_digest(disk / "model"))
                continue
            line, explained = first.last_line, _is_explained(first)
            left = first.code != 0 and (disk / "model").exists()
            grow(ENOUGH)
            second = first if first.code == 0 else run(command, disk)
            same = second.code == 0 and _without_card(model_digest(disk / "model")) == expected
            hidden = [path.name for path in disk.iterdir() if path.name not in ("model",)]
            row = {"megabytes": megabytes, "code": first.code, "line": line.replace(str(disk), "DISK")}
            yield {**row, "explained": explained, "half_a_model": left, "same": same, "left": hidden}
            if not explained:
                print(first.stderr[-3000:], file=sys.stderr)


def _is_explained(ended: Ended) -> bool:
    """Exit code 2 and a last line that says what is wrong, without a traceback; or no error at all."""
    if ended.code == 0:
        return True
    said = ended.last_line.startswith("masker: ") and "space" in ended.last_line.lower()
    return ended.code == 2 and said and "Traceback" not in ended.stderr


# Two at once ----------------------------------------------------------------------------------------------------------


def meeting(place: Place, rounds: int = 5) -> Iterator[dict[str, Any]]:
    """Two processes with one output folder, the second a little later each round."""
    for number in range(rounds):
        with empty(place.folder / "work") as work, empty(place.folder / "work2"):
            command = place.training(work / "model", *TRAININGS["split"])
            since = time.monotonic()
            first = start(command, work)
            time.sleep(0.7 * number)
            # Its log is beside another folder; it writes where the first does.
            second = start(command, place.folder / "work2")
            ends = [finish(*one, since) for one in (first, second)]
            winners = [end for end in ends if end.code == 0]
            lines = [end.last_line for end in ends if end.code != 0]
            clear = all("another process is training" in line or "already exists" in line for line in lines)
            clear = clear and not any("Traceback" in end.stderr for end in ends)
            left = sorted(path.name for path in work.iterdir())
            yield {"round": number, "winners": len(winners), "clear": clear, "left": left}


def make_place(folder: Path) -> Place:
    """A place with a tiny encoder, tables, a recipe and a model that was trained on them."""
    from benchmarks.trust_data import write_inputs

    place = Place(folder)
    pid = os.fork()  # what makes the encoder computes; this process must not, as it forks
    if not pid:
        write_inputs(folder)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    if not (folder / "model").exists():
        done = run(place.training(folder / "model", *TRAININGS["split"]), folder)
        assert done.code == 0, done.stderr
    return place
