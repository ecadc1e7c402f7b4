from __future__ import annotations

from benchmarks import setfit_environment
from benchmarks.setfit_environment import REQUIREMENTS, environment_folder, environment_python, is_ready


def test_every_requirement_is_pinned():
    lines = [line for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert all(line.count("==") == 1 for line in lines)
    assert {"setfit", "torch"} <= {line.split("==")[0] for line in lines}


def test_folder_is_beside_the_other_environment_unless_named(monkeypatch, tmp_path):
    monkeypatch.delenv(setfit_environment.VARIABLE, raising=False)
    assert environment_folder() == REQUIREMENTS.parent.parent / ".venv-setfit"
    monkeypatch.setenv(setfit_environment.VARIABLE, str(tmp_path))
    assert environment_folder() == tmp_path


def test_ready_only_after_an_installation_of_these_requirements(monkeypatch, tmp_path):
    monkeypatch.setenv(setfit_environment.VARIABLE, str(tmp_path))
    environment_python().parent.mkdir()
    environment_python().touch()
    assert not is_ready()
    (tmp_path / ".installed").write_bytes(REQUIREMENTS.read_bytes())
    assert is_ready()
    (tmp_path / ".installed").write_text("setfit==1.0.0\n")
    assert not is_ready()
