"""What ``masker audit`` prints and writes."""

from __future__ import annotations

import json

import pytest

from masker.audit import audit, compare_audits
from masker.config import AuditSettings
from masker.report.audit_console import print_audit, write_audit
from tests.audit.conftest import CLASSES, WEIGHTS


@pytest.fixture
def comparison(bag_of_words, topic_documents):
    settings = AuditSettings(resamples=20)
    one = audit(*bag_of_words(WEIGHTS), topic_documents, settings=settings, name="[bold]one")
    two = audit(*bag_of_words({}), topic_documents, settings=settings, name="two")
    return compare_audits(one, two, resamples=20)


def test_tables_of_both_models(comparison, tmp_path, capsys):
    print_audit(comparison, tmp_path)
    out = capsys.readouterr().out
    assert "[bold]one on topics: 120 documents" in out, "a name is no markup"
    assert all(f"{name}:" in out for name in CLASSES) and "none found" in out
    assert "all but the keywords" in out and "difference (first minus second)" in out
    assert "[bold]one relies more on keywords than two" in " ".join(out.split())
    assert str(tmp_path / "audit.html") in out.replace("\n", "")


def test_files_replace_those_of_an_earlier_audit(comparison, tmp_path):
    for found in (comparison, comparison.audit):
        write_audit(found, tmp_path / "new")
        assert json.loads((tmp_path / "new" / "audit.json").read_text("utf-8")) == json.loads(
            json.dumps(found.to_json())
        )
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["audit.html", "audit.json"]
