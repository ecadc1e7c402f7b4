"""``python -m benchmarks.fuzz``: coverage-guided fuzzing of what reads files: tables, settings, recipes, model folders.

Each target runs for ``--seconds`` in a process of its own, with atheris (libFuzzer). Executions and findings go to
``results/trust.json``, under ``fuzz``. A finding is a bug: fix it, and keep its input as a test.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.drift_page import write_tables
from benchmarks.environments import ATHERIS
from benchmarks.trust_page import TABLES
from benchmarks.trust_results import PAGE, add_result, stored

ROOT = Path(__file__).parent.parent
SCRIPT = Path(__file__).with_name("fuzz_targets.py")
FIXTURE = ROOT / "tests" / "fixtures" / "exported-bert"
TARGETS = ("table", "config", "recipe", "model")
#: In the order of fuzz_targets.FILES, which this process cannot import.
FILES = (
    "masker.json",
    "masker.safetensors",
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "onnx/export.json",
)
#: Megabytes, seconds for one input, and bytes of one.
LIMITS = ["-rss_limit_mb=2048", "-timeout=30", "-max_len=60000"]
_TABLES = (
    'text,label\n"a, b",x\nc,y\n',
    "text\tlabel\na\tx\n",
    '{"text": "a", "label": 1}\n',
    '[{"text": "a", "label": "x"}]',
    "a\nb\n",
)


def write_corpus(target: str, folder: Path) -> None:
    """Inputs to start from: one that is right for each form."""
    if target == "table":
        seeds = [bytes([number]) + text.encode() for number, text in enumerate(_TABLES)]
        seeds += [bytes([5]) + _TABLES[0].encode(), bytes([6]) + _TABLES[2].encode()]
    elif target == "model":
        seeds = [bytes([number]) + (FIXTURE / name).read_bytes() for number, name in enumerate(FILES)]
    elif target == "recipe":
        seeds = [file.read_bytes() for file in sorted((ROOT / "src/masker/experiments/recipes").glob("*.yaml"))]
    else:
        seeds = [
            b"model: {backbone: minilm}\ntraining: {seed: 3, learning_rate: 1.0e-4}\n",
            b'{"loss": {"lambda_mer": 0.1}}',
        ]
    for number, seed in enumerate(seeds):
        (folder / str(number)).write_bytes(seed)


def fuzz(target: str, seconds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(
        prefix="masker-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None
    ) as name:
        place = Path(name)
        corpus, scratch, findings = place / "corpus", place / "scratch", place / "findings.json"
        corpus.mkdir()
        scratch.mkdir()
        write_corpus(target, corpus)
        command = [str(ATHERIS.python), "-I", str(SCRIPT), target, str(findings), str(scratch)]
        options = [f"-max_total_time={seconds}", "-print_final_stats=1", "-seed=1", *LIMITS, str(corpus)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(
            [*command, *options], capture_output=True, text=True, errors="replace", env=environment, cwd=place
        )
        executed = re.search(r"stat::number_of_executed_units: (\d+)", done.stderr)
        memory = re.search(r"stat::peak_rss_mb: +(\d+)", done.stderr)
        if done.returncode or executed is None or memory is None:
            sys.exit(f"{done.stderr[-3000:]}\n{target} did not end as it should, so nothing is stored")
        found = json.loads(findings.read_text(encoding="utf-8")) if findings.exists() else {}
        covered = re.findall(r"cov: (\d+)", done.stderr)
        return {
            "seconds": seconds,
            "executions": int(executed[1]),
            "peak_mb": int(memory[1]),
            "branches": int(covered[-1]) if covered else None,
            "findings": found,
        }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz")
    parser.add_argument("--only", nargs="*", choices=TARGETS, default=TARGETS)
    parser.add_argument("--seconds", type=int, default=300, help="for each target")
    options = parser.parse_args()
    if not ATHERIS.is_ready:
        sys.exit(f"no atheris in '{ATHERIS.folder}'; run python -m benchmarks.environments atheris")
    for target in options.only:
        found = fuzz(target, options.seconds)
        add_result(found, "fuzz", target)
        print(target, json.dumps(found, indent=1), file=sys.stderr)
    write_tables(stored(), PAGE, TABLES)


if __name__ == "__main__":
    main()
