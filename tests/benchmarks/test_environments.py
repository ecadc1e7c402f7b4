from __future__ import annotations

import re
import tomllib

import pytest

from benchmarks.environments import ATHERIS, COSMIC_RAY, PIP_AUDIT, RIVER, ROOT, SETFIT


@pytest.mark.parametrize(
    ("environment", "packages"),
    [
        (SETFIT, {"setfit", "torch"}),
        (RIVER, {"river"}),
        (ATHERIS, {"atheris"}),
        (COSMIC_RAY, {"cosmic_ray", "parso"}),
        (PIP_AUDIT, {"pip_audit"}),
    ],
)
def test_every_requirement_is_pinned(environment, packages):
    text = environment.requirements.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(line.count("==") == 1 for line in lines)
    assert packages <= {line.split("==")[0] for line in lines}


def test_what_is_fuzzed_has_the_dependencies_of_the_base_install():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = re.findall(r"^[\w-]+(?===)", ATHERIS.requirements.read_text(encoding="utf-8"), re.M)
    wanted = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}
    assert wanted <= {name.lower().replace("_", "-") for name in pinned}


def test_folder_is_beside_the_other_environment_unless_named(monkeypatch, tmp_path):
    monkeypatch.delenv("MASKER_SETFIT_VENV", raising=False)
    assert SETFIT.folder == ROOT / ".venv-setfit"
    monkeypatch.setenv("MASKER_SETFIT_VENV", str(tmp_path))
    assert SETFIT.folder == tmp_path


def test_ready_only_after_an_installation_of_these_requirements(monkeypatch, tmp_path):
    monkeypatch.setenv(RIVER.variable, str(tmp_path))
    RIVER.python.parent.mkdir()
    RIVER.python.touch()
    assert not RIVER.is_ready
    RIVER.stamp.write_bytes(RIVER.requirements.read_bytes())
    assert RIVER.is_ready
    RIVER.stamp.write_text("river==0.1.0\n")
    assert not RIVER.is_ready
