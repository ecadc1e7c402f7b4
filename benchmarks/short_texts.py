"""Training time on few short texts: masker's default, ``--method linear`` and SetFit, in turns on the same cores.

Every training has a process of its own, so that imports and warm-up count alike. ``python -m benchmarks --only
short-texts`` measures everything; ``python -m benchmarks.short_texts --help`` has the options for a trial run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import environments
from benchmarks.masker_system import DEFAULT
from benchmarks.processor import processor_kind
from masker.config import DataSettings
from masker.corpora import list_corpora
from masker.documents import Documents, detection_split, read_documents, subsample, subsample_classes
from masker.files import write_json
from masker.provenance import provenance

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "short_texts.json"
THREADS = 2
#: SetFit's default pairs every text with every other, which is more than 20,000 steps for 600 texts.
MAX_STEPS = 300
FEW_CLASSES, FEW_TEXTS = 0.6, 8  # 38 of the 64 classes of HWU64
MANY_TEXTS = 4_000
SETFIT = "SetFit"
LINEAR = "linear"


@dataclass(frozen=True)
class Case:
    """Texts to train and test on, and the systems that are measured on them."""

    name: str
    corpora: tuple[str, ...]
    read: Callable[[int], dict[str, Any]]
    systems: tuple[str, ...] = (DEFAULT, LINEAR, SETFIT)


def _read(source: str) -> Documents:
    return read_documents(source, DataSettings(), require_labels=True)


def _task(train: Documents, test: Documents, ood: dict[str, Documents]) -> dict[str, Any]:
    return {
        "train": {"texts": train.texts, "labels": train.labels},
        "test": {"texts": test.texts, "labels": test.labels},
        "ood": {name: documents.texts for name, documents in ood.items()},
    }


def chat_bot(name: str) -> Case:
    """A bot's own training texts; foreign are the texts that its makers marked as none of the intents."""

    def read(_: int) -> dict[str, Any]:
        return _task(_read(f"{name}:train"), _read(f"{name}:test"), {"no intent": _read(f"{name}:ood")})

    return Case(name, (name,), read)


def _few_intents(seed: int) -> dict[str, Any]:
    split = detection_split(_read("hwu64:train"), _read("hwu64:test"), FEW_CLASSES, seed)
    ood = {"unseen classes": split.unseen, "other text": _read("hint3-curekart:test")}
    return _task(subsample_classes(split.train, FEW_TEXTS, seed), split.test, ood)


def _many_intents(seed: int) -> dict[str, Any]:
    train = subsample(_read("hwu64:train"), MANY_TEXTS, seed)
    return _task(train, _read("hwu64:test"), {"other text": _read("hint3-curekart:test")})


CASES = (
    chat_bot("hint3-curekart"),
    chat_bot("hint3-sofmattress"),
    Case("hwu64, 38 classes × 8", ("hwu64", "hint3-curekart"), _few_intents),
    Case("hwu64, 4,000 texts", ("hwu64", "hint3-curekart"), _many_intents, (DEFAULT, LINEAR)),
)


def commands() -> dict[str, list[str]]:
    """The command of each system; the files of task and result follow."""
    # Isolated, so that neither PYTHONPATH nor the folder of the script brings in modules from here.
    script = str(Path(__file__).with_name("setfit_system.py"))
    return {
        **{name: [sys.executable, "-m", "benchmarks.masker_system", name] for name in (DEFAULT, LINEAR)},
        SETFIT: [str(environments.SETFIT.python), "-I", script],
    }


@contextmanager
def same_cores(count: int) -> Iterator[None]:
    """Processes started inside the context share ``count`` cores, where the system can say so."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def run_system(command: list[str], task: dict[str, Any]) -> dict[str, Any]:
    """What one system reports on a task, and ``total_seconds`` from the start of its process to a trained model."""
    # masker sets how threads wait, in this process too; SetFit keeps the library's default.
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    environment |= {"OMP_NUM_THREADS": str(task["threads"]), "HF_HUB_OFFLINE": "1"}
    with tempfile.TemporaryDirectory(prefix="masker-bench-") as folder, same_cores(task["threads"]):
        task_file, result_file = Path(folder) / "task.json", Path(folder) / "result.json"
        write_json(task_file, task)
        start = time.time()
        done = subprocess.run(
            [*command, str(task_file), str(result_file)], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with code {done.returncode}:\n{done.stderr[-4000:]}")
        result: dict[str, Any] = json.loads(result_file.read_text(encoding="utf-8"))
    total = result.pop("trained_at") - start
    return {**result, "total_seconds": total}


def measure(
    cases: list[Case], runners: dict[str, list[str]], seeds: list[int], max_steps: int, output: Path
) -> list[dict[str, Any]]:
    """Run the systems in turns, once for each seed, and write the rows as they come."""
    from masker.modeling.embedded import embedded_folder

    encoder = str(embedded_folder("minilm"))
    kind, rows = processor_kind(), []
    shared = {"encoder": encoder, "max_steps": max_steps, "threads": THREADS}
    versions: dict[str, dict[str, str]] = {}
    origin = provenance(**{name: shared[name] for name in ("max_steps", "threads")}, seeds=seeds, systems=versions)
    for case in cases:
        for seed in seeds:
            task = {**case.read(seed), **shared, "seed": seed}
            for system in (name for name in case.systems if name in runners):
                result = run_system(runners[system], task)
                versions[system] = result.pop("versions")
                row = {"case": case.name, "system": system, "seed": seed, **_sizes(task), **_rounded(result)}
                rows.append(row)
                print(
                    f"{case.name}, seed {seed}, {system}: {row['seconds']} s, in total {row['total_seconds']} s, "
                    f"accuracy {row['accuracy']}, AUROC {row['auroc']}"
                )
                processors = {**load_results(output), kind: {"rows": rows, "provenance": origin}}
                output.parent.mkdir(exist_ok=True)
                write_json(output, {"processors": processors})
    return rows


def load_results(path: Path = RESULTS) -> dict[str, Any]:
    """What has been measured, by kind of processor."""
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    processors: dict[str, Any] = stored.get("processors", {})
    return processors


def _sizes(task: dict[str, Any]) -> dict[str, int]:
    return {"texts": len(task["train"]["texts"]), "classes": len(set(task["train"]["labels"]))}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(entry) for name, entry in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def missing(cases: list[Case], systems: list[str]) -> str | None:
    """What is not there to measure with, and how to get it; ``None`` if nothing is missing."""
    local = {info.name for info in list_corpora() if info.location.startswith(("MASKER_DATA", "cache"))}
    absent = sorted({name for case in cases for name in case.corpora} - local)
    if absent:
        return f"no corpus {', '.join(absent)}; let MASKER_DATA name a folder with NAME.SPLIT.jsonl.gz files of it"
    if SETFIT in systems and not environments.SETFIT.is_ready:
        return f"no SetFit in '{environments.SETFIT.folder}'; run python -m benchmarks.environments setfit"
    return None


def run(rounds: int) -> None:
    """Measure everything, with as many seeds as rounds, or say in one line why not."""
    reason = missing(list(CASES), [DEFAULT, LINEAR, SETFIT])
    if reason:
        print(f"short-texts skipped: {reason}", file=sys.stderr)
        return
    measure(list(CASES), commands(), list(range(rounds)), MAX_STEPS, RESULTS)


def main() -> None:
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.short_texts")
    parser.add_argument("--cases", nargs="*", choices=names, default=names)
    parser.add_argument("--systems", nargs="*", choices=list(commands()), default=list(commands()))
    parser.add_argument("--seeds", nargs="*", type=int, default=[0])
    parser.add_argument("--max-steps", type=int, default=MAX_STEPS, help="of SetFit")
    parser.add_argument("--output", type=Path, required=True, help="JSON file for the rows")
    options = parser.parse_args()
    cases = [case for case in CASES if case.name in options.cases]
    reason = missing(cases, options.systems)
    if reason:
        parser.exit(1, f"{reason}\n")
    runners = {name: command for name, command in commands().items() if name in options.systems}
    measure(cases, runners, options.seeds, options.max_steps, options.output)


if __name__ == "__main__":
    main()
