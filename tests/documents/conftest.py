"""Reading small files: what the tests of columns, rows, formats and sources share."""

import gzip

import pytest

from masker.config import DataSettings
from masker.documents import read_documents
from masker.errors import DataError


@pytest.fixture
def no_corpora(monkeypatch, tmp_path_factory):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def put(tmp_path):
    def write(name, content):
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def read(path, *, labels=True, numeric=False, **settings):
    return read_documents(
        path, DataSettings(**settings), require_labels=labels, head="regression" if numeric else "multi-class"
    )


def refuse(path, message, **kwargs):
    with pytest.raises(DataError, match=message) as caught:
        read(path, **kwargs)
    assert "\n" not in str(caught.value)
