"""Texts without labels, a chunk at a time."""

from __future__ import annotations

import json

from masker.commands.text_chunks import text_chunks
from masker.config import DataSettings


def test_chunks_without_blank_texts(tmp_path, monkeypatch):
    monkeypatch.setattr("masker.documents.texts.STREAM_CHUNK", 2)
    path = tmp_path / "d.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in ("a", " ", "b", "c", "d")))
    assert list(text_chunks(str(path), DataSettings())) == [["a", "b"], ["c", "d"]]
    assert list(text_chunks(str(path), DataSettings(limit=3))) == [["a", "b"], ["c"]]
