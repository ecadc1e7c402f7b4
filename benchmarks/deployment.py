"""What serving an exported model takes: the size of its environment, and the way from starting Python to an answer.

The environment is made on the spot from a wheel of this checkout, in a temporary folder, with packages from the index
that pip uses. PyTorch is not among them, which is checked.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
#: What the wheel is made of.
SOURCES = ("src", "pyproject.toml", "README.md", "LICENSE")
#: Extras of the small environment, and of the one it is compared with.
SMALL, LARGE = ("serve",), ("serve", "train")
#: Come with every virtual environment.
TOOLS = {"pip", "setuptools"}
NAMED = 5

TEXT = "my order has not arrived yet, where is it?"
#: Opens a model and answers one text; prints the seconds of processor time and the largest memory in kB so far.
ANSWER = """
import sys, time
{first}
from masker.model import Model

Model.open(sys.argv[1], sys.argv[2]).predict([sys.argv[3]])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(time.process_time(), peak.split()[1], flush=True)
"""


def run(rounds: int) -> dict[str, Any]:
    from benchmarks.scoring import saved_model
    from benchmarks.setting import load_setting
    from masker.export import export_onnx

    with tempfile.TemporaryDirectory(prefix="masker-bench-") as temporary:
        folder = Path(temporary)
        python = make_environment(folder)
        model = saved_model(load_setting())
        export_onnx(model, int8=True)
        here = Path(sys.executable)
        cases = {
            "small": _starter(python, model, "onnx-int8"),
            "with torch imported": _starter(here, model, "onnx-int8", first="import torch, transformers"),
            "torch": _starter(here, model, "torch"),
        }
        return {
            "small": size_of(installed(python)),
            "large": size_of(needed(LARGE, installed(python))),
            "start": take_turns(cases, rounds),
        }


def make_environment(folder: Path) -> Path:
    """A virtual environment with ``masker[serve]``; returns its Python."""
    source = folder / "source"
    source.mkdir()
    for name in SOURCES:  # a copy, because building leaves files behind, and finds those of earlier builds
        origin = ROOT / name
        if origin.is_dir():
            shutil.copytree(origin, source / name, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
        else:
            shutil.copy(origin, source / name)
    wheels = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(source)]
    _pip(Path(sys.executable), *wheels)
    (wheel,) = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "environment")], check=True)
    python = folder / "environment" / "bin" / "python"
    _pip(python, "install", "--quiet", f"masker[{','.join(SMALL)}] @ {wheel.as_uri()}")
    absent = subprocess.run([str(python), "-I", "-c", "import torch"], capture_output=True, check=False)
    assert absent.returncode != 0, "masker[serve] must not bring torch"
    return python


def _pip(python: Path, *arguments: str) -> None:
    subprocess.run([str(python), "-m", "pip", "--disable-pip-version-check", *arguments], check=True)


# Sizes ---------------------------------------------------------------------------------------------------------------


def installed(python: Path) -> list[Distribution]:
    """The packages of an environment, without those that come with every one."""
    code = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    folder = subprocess.run([str(python), "-I", "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    return [found for found in distributions(path=[folder]) if found.name.lower() not in TOOLS]


def needed(extras: tuple[str, ...], small: list[Distribution]) -> list[Distribution]:
    """The packages of this environment that masker needs with these extras; masker itself may be editable here."""
    own = [found for found in small if found.name == "masker"]
    return [*own, *(distribution(name) for name in sorted(needed_names(extras)))]


def needed_names(extras: tuple[str, ...]) -> set[str]:
    """The names of all packages that masker needs with these extras, directly or not."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    todo = [*project["dependencies"], *(line for extra in extras for line in optional[extra])]
    seen: set[tuple[str, str]] = set()
    while todo:
        requirement = Requirement(todo.pop())
        if requirement.name == "masker":
            todo += [line for extra in requirement.extras for line in optional[extra]]
            continue
        for extra in ("", *sorted(requirement.extras)):
            if (requirement.name.lower(), extra) not in seen:
                seen.add((requirement.name.lower(), extra))
                todo += [line for line in distribution(requirement.name).requires or () if _applies(line, extra)]
    return {name for name, _ in seen}


def _applies(line: str, extra: str) -> bool:
    marker = Requirement(line).marker
    named = marker is not None and "extra" in str(marker)
    return (named == bool(extra)) and (marker is None or marker.evaluate({"extra": extra}))


def size_of(found: list[Distribution]) -> dict[str, Any]:
    """Number and size of packages, and the largest of them."""
    sizes = {one.name: sum(_bytes(one)) for one in found}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:NAMED]
    return {
        "packages": len(sizes),
        "mb": round(sum(sizes.values()) / 1e6),
        "largest": {name: round(sizes[name] / 1e6) for name in largest},
    }


def _bytes(found: Distribution) -> Iterator[int]:
    for file in found.files or ():
        path = Path(str(found.locate_file(file)))
        if path.is_file():
            yield path.stat().st_size


# Starting ------------------------------------------------------------------------------------------------------------


class Start(NamedTuple):
    """From starting Python to the first answer."""

    seconds: float  # on the clock, which runs on while other processes have the cores
    processor: float  # seconds of processor time, which does not
    peak_kb: int


def _starter(python: Path, model: Path, backend: str, first: str = "") -> Callable[[], Start]:
    # The small environment has its own masker; this one's may be found by PYTHONPATH.
    isolated = [] if python == Path(sys.executable) else ["-I"]
    command = [str(python), *isolated, "-c", ANSWER.format(first=first), str(model), backend, TEXT]

    def start() -> Start:
        begin = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment()) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            seconds = time.perf_counter() - begin
        processor, peak = line.split()
        return Start(seconds, float(processor), int(peak))

    return start


def _environment() -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1"}


def take_turns(cases: dict[str, Callable[[], Start]], rounds: int) -> dict[str, Any]:
    """What each case takes, in turns after one that does not count; ratios are to the first case of the same turn."""
    for start in cases.values():
        start()
    turns = [{name: start() for name, start in cases.items()} for _ in range(rounds)]
    first = next(iter(cases))
    found = {}
    for name in cases:
        ratios = [turn[name].seconds / turn[first].seconds for turn in turns]
        found[name] = {
            "seconds": round(statistics.median(turn[name].seconds for turn in turns), 2),
            "processor_seconds": round(statistics.median(turn[name].processor for turn in turns), 2),
            "ratio": round(statistics.median(ratios), 2),
            "low": round(min(ratios), 2),
            "high": round(max(ratios), 2),
            "peak_mb": round(max(turn[name].peak_kb for turn in turns) * 1024 / 1e6),
        }
    return found


# The page ------------------------------------------------------------------------------------------------------------


def deployment_section(results: dict[str, Any]) -> str:
    """What the page says of it."""
    small, large, start = results["small"], results["large"], results["start"]
    first = start["small"]

    def size(entry: dict[str, Any]) -> str:
        parts = ", ".join(f"{name} {mb}" for name, mb in entry["largest"].items())
        return f"{entry['mb']:,} MB in {entry['packages']} packages | {parts}"

    def took(name: str) -> str:
        case = start[name]
        ratio = f"{case['ratio']:.2f} ({case['low']:.2f} – {case['high']:.2f})" if case is not first else "1"
        return f"{ratio} | {case['seconds']:.2f} s | {case['processor_seconds']:.2f} s | {case['peak_mb']:,} MB"

    return f"""
## Without PyTorch

An exported model is opened without PyTorch and transformers. `python -m benchmarks --only deployment` installs
`masker[serve]` into an environment of its own and lets it and this one take turns. Seconds on the clock depend on what
else the machine does; the ratio and the processor time do so less.

| environment | size | largest packages, MB |
| --- | --- | --- |
| `masker[serve]` | {size(small)} |
| `masker[serve,train]`, PyTorch for CPUs | {size(large)} |

| from starting Python to the first answer of the embedded backbone | ratio | clock | processor | peak memory |
| --- | --- | --- | --- | --- |
| int8 in the environment of `masker[serve]` | {took("small")} |
| int8, importing PyTorch and transformers as well | {took("with torch imported")} |
| PyTorch, float32 | {took("torch")} |
"""
