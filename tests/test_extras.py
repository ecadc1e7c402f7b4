"""Optional packages: the extra of each, and the line that names it."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

import masker
from masker.errors import MissingPackageError
from masker.extras import EXTRAS, explained, require

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
#: Where a package is imported by another name than it is installed by.
INSTALLED_AS = {"sklearn": "scikit-learn", "prometheus_client": "prometheus-client", "openTSNE": "opentsne"}


def named(requirements):
    return {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requirements}


@pytest.fixture(scope="module")
def project():
    return tomllib.loads(PROJECT.read_text())["project"]


@pytest.mark.parametrize("module", EXTRAS)
def test_the_extra_brings_the_package(module, project):
    package = INSTALLED_AS.get(module, module)
    assert package in named(project["optional-dependencies"][EXTRAS[module]])
    assert package not in named(project["dependencies"]), "then it would not be optional"


def test_all_is_everything(project):
    extras = project["optional-dependencies"]
    assert set(re.findall(r"\w+", extras["all"][0])) == {"masker", *extras} - {"all", "docs"}


def test_what_is_there_is_returned():
    assert require("this", "json", "json.decoder") is sys.modules["json"]


def test_what_is_missing_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingPackageError) as caught:
        require("training", "json", "torch")
    assert re.fullmatch(
        r"training needs torch \(.*torch.*\); install it with pip install 'masker\[train\]'", str(caught.value)
    )
    assert caught.value.__suppress_context__


def test_an_error_from_deep_inside_is_explained():
    error = explained(ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"))
    assert str(error) == "this needs torch (No module named 'torch.nn'); install it with pip install 'masker[train]'"


@pytest.mark.parametrize("name", [None, "masker.nowhere", "jsonn"])
def test_other_errors_are_not(name):
    assert explained(ModuleNotFoundError("No module", name=name)) is None


def test_a_public_name_whose_packages_are_missing(monkeypatch):
    loaded = [name for name in sys.modules if name.startswith("sklearn.")]
    for name in ("sklearn", *loaded):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "masker.classifier", raising=False)
    with pytest.raises(MissingPackageError, match=r"^masker.MaskerClassifier needs sklearn .*'masker\[train\]'$"):
        _ = masker.MaskerClassifier
