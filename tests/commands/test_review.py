"""Suggestions as tasks for Label Studio."""

from __future__ import annotations

import json

from masker.commands.review import write_suggestions
from masker.labelling import Suggestion


def test_only_an_answer_of_the_model_has_a_confidence(tmp_path):
    # A rejected text near the threshold may be of a group, and then its name is suggested.
    chosen = [
        Suggestion("where is my parcel", None, "threshold", "delivery", 0.7, 0.06, False),
        Suggestion("send me the bill", None, "threshold", "bill, invoice", 0.6, 0.04, True),
        Suggestion("the invoice is wrong", None, "group", "bill, invoice", 0.5, 0.01, True),
    ]
    write_suggestions(chosen, ["delivery", "refund"], tmp_path / "tasks.json")
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert [task["predictions"][0].get("score") for task in tasks] == [0.7, None, None]
    assert 'value="bill, invoice"' in (tmp_path / "tasks.xml").read_text()
