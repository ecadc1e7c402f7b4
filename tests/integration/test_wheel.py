"""The package that is published: a wheel installs into an empty environment and predicts there."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import masker

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def done(*command: object, cwd: Path) -> str:
    result = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    done(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
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
    installed = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", str(wheel)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    if installed.returncode and "No matching distribution" in installed.stderr:
        pytest.skip("the package index cannot be reached")
    assert installed.returncode == 0, installed.stderr
    command = tmp_path / "empty" / "bin" / "masker"
    assert masker.__version__ in done(command, "--version", cwd=tmp_path)
    assert "ood-main" in done(command, "reproduce", "--list", cwd=tmp_path)
    (tmp_path / "new.jsonl").write_text('{"text": "the rocket reached the moon"}\n')
    model = ROOT / "tests" / "fixtures" / "exported-bert"
    (row,) = done(command, "predict", model, "new.jsonl", cwd=tmp_path).splitlines()
    assert set(json.loads(row)) == {"label", "confidence", "p_value", "ood_score", "is_ood"}
    refused = subprocess.run(
        [command, "train", "new.jsonl", "--output", "m"], capture_output=True, text=True, cwd=tmp_path
    )
    assert refused.returncode == 2 and "masker[train]" in refused.stderr
