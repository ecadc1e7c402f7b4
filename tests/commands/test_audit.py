"""Auditing models and data by name."""

from __future__ import annotations

import json
import shutil

import pytest

from masker.audit import AuditComparison
from masker.commands.audit import AuditSources, audit_sources
from masker.config import AuditSettings, DataSettings
from masker.errors import DataError
from tests.audit.conftest import tiny_classifiers  # noqa: F401
from tests.conftest import make_corpus

QUICK = AuditSettings(documents=40, resamples=20)


@pytest.fixture
def data(tmp_path):
    texts, labels = make_corpus(60)
    rows = [{"text": texts[n], "label": labels[n], "part": n % 2} for n in range(60)]
    path = tmp_path / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_one_model(tiny_classifiers, data):  # noqa: F811
    sources = AuditSources(str(tiny_classifiers["bert"]), data, max_length=16)
    found = audit_sources(sources, QUICK, DataSettings())
    assert (found.model, found.data, found.max_length) == ("bert", data, 16)
    assert (found.documents, found.keyword_documents, found.other) == (20, 20, None)


def test_rows_are_selected_in_the_data_but_not_in_the_other_corpus(tiny_classifiers, data, tmp_path):  # noqa: F811
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"text": "rocket soup"}) + "\n")
    sources = AuditSources(str(tiny_classifiers["bert"]), data, other=str(other))
    found = audit_sources(sources, QUICK, DataSettings(where={"part": ["1"]}))
    assert found.documents + found.keyword_documents == 30
    assert found.other == str(other) and "other.jsonl: all" in found.rates["space"]


def test_two_models_of_one_name_are_numbered(tiny_classifiers, data, tmp_path):  # noqa: F811
    twin = shutil.copytree(tiny_classifiers["bert"], tmp_path / "bert")
    found = audit_sources(AuditSources(str(tiny_classifiers["bert"]), data, against=str(twin)), QUICK, DataSettings())
    assert isinstance(found, AuditComparison)
    assert (found.audit.model, found.against.model) == ("bert (1)", "bert (2)")
    assert found.difference.reliance.value == found.difference.reliance.high == 0.0


def test_labels_name_the_outputs(tiny_classifiers, data):  # noqa: F811
    model = str(tiny_classifiers["bert"])
    found = audit_sources(AuditSources(model, data, labels=["SPORT", "FOOD", "SPACE"]), QUICK, DataSettings())
    assert list(found.keywords) == ["SPORT", "FOOD", "SPACE"]
    with pytest.raises(DataError, match="'food', 'space', 'sport' are not among the model's outputs"):
        audit_sources(AuditSources(model, data, labels=["a", "b", "c"]), QUICK, DataSettings())
