"""One fuzzing target in one process, run by ``benchmarks.fuzz`` with the Python of atheris' environment.

::

    python fuzz_targets.py TARGET FINDINGS.json SCRATCH [libFuzzer options] [corpus]

A loader may answer with a result or a MaskerError of one line a problem. Whatever else it raises is a finding; it is
noted once for each place that raises it, and fuzzing goes on.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import atheris

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))

with atheris.instrument_imports(include=["masker"]):
    from masker.config import DataSettings, build_settings
    from masker.documents import read_documents
    from masker.errors import MaskerError
    from masker.experiments.recipe import load_recipe
    from masker.model import Model

ENDINGS = (".csv", ".tsv", ".jsonl", ".json", ".txt", ".csv.gz", ".jsonl.gz", ".parquet")
#: Files of a model folder that are fuzzed: an exported model, which opens without PyTorch.
FILES = (
    "masker.json",
    "masker.safetensors",
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "onnx/export.json",
)
FIXTURE = ROOT / "tests" / "fixtures" / "exported-bert"


def table(scratch: Path) -> Callable[[bytes], None]:
    """The first byte chooses the format, and whether the gzip is a whole one."""

    def read(data: bytes) -> None:
        ending = ENDINGS[data[0] % len(ENDINGS)]
        content = gzip.compress(data[1:], 1) if ending.endswith(".gz") and data[0] < 128 else data[1:]
        path = scratch / f"table{ending}"
        path.write_bytes(content)
        read_documents(str(path), DataSettings(skip_invalid=data[0] > 63), require_labels=None)

    return read


def config(scratch: Path) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        (scratch / "config.yaml").write_bytes(data)
        build_settings(config_file=scratch / "config.yaml")

    return read


def recipe(scratch: Path) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        (scratch / "recipe.yaml").write_bytes(data)
        load_recipe(str(scratch / "recipe.yaml"))

    return read


def model(scratch: Path) -> Callable[[bytes], None]:
    """The first byte chooses the file that the rest replaces."""
    folder = scratch / "model"
    shutil.copytree(FIXTURE, folder, dirs_exist_ok=True)

    def read(data: bytes) -> None:
        name = FILES[data[0] % len(FILES)]
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(data[1:])
        try:
            Model.open(folder).predict(["the rocket and the soup"])
        finally:
            (folder / name).write_bytes(whole)

    return read


TARGETS = {"table": table, "config": config, "recipe": recipe, "model": model}


def main() -> None:
    name, findings, scratch = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    read = TARGETS[name](scratch)
    found: dict[str, dict[str, str]] = {}

    def one(data: bytes) -> None:
        if not data:
            return
        try:
            read(data)
        except MaskerError as error:
            if not str(error):
                note("an error without words", error, data)
        except Exception as error:
            frame = next(one for one in reversed(traceback.extract_tb(error.__traceback__)) if "masker" in one.filename)
            note(f"{type(error).__name__} in {Path(frame.filename).name}, {frame.name}", error, data)

    def note(key: str, error: Exception, data: bytes) -> None:
        if key not in found:
            found[key] = {"error": " ".join(str(error).split())[:200], "input": repr(data[:300])}
            findings.write_text(json.dumps(found, indent=1), encoding="utf-8")

    atheris.Setup([sys.argv[0], *sys.argv[4:]], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
