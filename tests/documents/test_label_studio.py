"""Tasks out, annotations in."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from masker import DataError
from masker.config import DataSettings
from masker.documents import read_documents
from masker.documents.label_studio import from_task, labelling_config, to_task


def annotated(task, *values, **more):
    return {**task, "annotations": [{"result": [{"value": value} for value in values], **more}]}


def test_a_task_suggests_the_label():
    task = to_task("hello", None, "greeting", 0.75, reason="threshold")
    assert task["data"] == {"text": "hello", "reason": "threshold"}
    prediction = task["predictions"][0]
    assert prediction["score"] == 0.75 and prediction["result"][0]["value"] == {"choices": ["greeting"]}
    assert prediction["result"][0]["from_name"] == "label" and prediction["result"][0]["to_name"] == "text"


def test_what_was_typed_comes_before_what_was_chosen():
    task = to_task("hello", "there", "greeting", 0.75)
    assert from_task(annotated(task, {"choices": ["bye"]}))["label"] == "bye"
    assert from_task(annotated(task, {"choices": ["bye"]}, {"text": ["thanks "]}))["label"] == "thanks"
    assert from_task(annotated(task, {"choices": ["bye"]}, was_cancelled=True))["label"] is None
    assert from_task(annotated(task))["text_pair"] == "there"


def test_other_records_stay():
    assert from_task({"text": "a", "label": "b"}) == {"text": "a", "label": "b"}
    assert from_task({"data": 3, "annotations": []}) == {"data": 3, "annotations": []}


def test_an_export_is_read_as_documents(tmp_path):
    done = [annotated(to_task(text, None, "x", 0.5), {"choices": [label]}) for text, label in (("a", "y"), ("b", "z"))]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(done))
    documents = read_documents(path, DataSettings(), require_labels=True)
    assert (documents.texts, documents.labels) == (["a", "b"], ["y", "z"])
    path.write_text(json.dumps([*done, {**to_task("c", None, "x", 0.5), "annotations": []}]))
    with pytest.raises(DataError, match="1 row has no label"):
        read_documents(path, DataSettings(), require_labels=True)
    assert len(read_documents(path, DataSettings(skip_invalid=True), require_labels=True)) == 2


def test_the_interface_is_xml():
    view = ElementTree.fromstring(labelling_config(['a "b" & c', "d"], pairs=True))
    assert [choice.get("value") for choice in view.iter("Choice")] == ['a "b" & c', "d"]
    assert [text.get("value") for text in view.iter("Text")] == ["$text", "$text_pair"]
