"""The public list is what it says, and importing the package is cheap."""

from __future__ import annotations

import subprocess
import sys

import masker


def test_every_public_name_exists_and_is_documented():
    assert masker.__all__ == sorted(masker.__all__)
    for name in masker.__all__:
        assert getattr(masker, name).__doc__, name
    assert set(masker._HOMES) == set(masker.__all__)
    assert set(dir(masker)) == {*masker.__all__, "__version__"}


def test_unknown_names_are_attribute_errors():
    assert not hasattr(masker, "Masker")


def test_version_is_the_installed_one():
    from importlib.metadata import version

    assert masker.__version__ == version("masker")


def test_help_imports_nothing_heavy():
    script = (
        "import sys\n"
        "from masker.cli import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'sklearn', 'scipy', 'pandas', 'datasets', 'pydantic', 'numpy', 'rich'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "train" in done.stdout
