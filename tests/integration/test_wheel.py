"""The package that is published: a wheel installs into an empty environment and predicts there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import masker

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def typed(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command that sees nothing of this checkout."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=cwd, env=outside, capture_output=True, text=True, check=False)


def done(*command: object, cwd: Path) -> str:
    result = typed(*command, cwd=cwd)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    sources = folder / "sources"  # a copy: building leaves files behind, and would take up old ones
    shutil.copytree(ROOT / "src", sources / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources)
    done(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, sources, cwd=folder)
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_has_what_is_not_code_too(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name.startswith(f"masker-{masker.__version__}-")  # one place has the version
    for part in ("py.typed", "experiments/recipes/ood-main.yaml", "service/page/", "report/templates/"):
        assert any(name.startswith(f"masker/{part}") for name in names), part
    assert not any(name.startswith(("tests/", "docs/", "benchmarks/")) for name in names)


def test_it_predicts_in_an_empty_environment(wheel, tmp_path):
    """Dependencies come from the package index; without one the test is skipped."""
    done(sys.executable, "-m", "venv", tmp_path / "empty", cwd=tmp_path)
    python = tmp_path / "empty" / "bin" / "python"
    installed = typed(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    if installed.returncode and "No matching distribution" in installed.stderr:
        pytest.skip("the package index cannot be reached")
    assert installed.returncode == 0, installed.stderr
    command = tmp_path / "empty" / "bin" / "masker"
    assert masker.__version__ in done(command, "--version", cwd=tmp_path)
    assert "predict" in done(command, "--help", cwd=tmp_path)
    rows = ({"text": "the rocket reached the moon", "label": "space"}, {"text": "bread and soup", "label": "food"})
    (tmp_path / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = ROOT / "tests" / "fixtures" / "exported-bert"
    answers = done(command, "predict", model, "new.jsonl", cwd=tmp_path).splitlines()
    assert len(answers) == 2 and set(json.loads(answers[0])) == {
        "label",
        "confidence",
        "p_value",
        "ood_score",
        "is_ood",
    }
    refused = typed(command, "train", "new.jsonl", "--output", "m", cwd=tmp_path)
    assert refused.returncode == 2 and "masker[train]" in refused.stderr
