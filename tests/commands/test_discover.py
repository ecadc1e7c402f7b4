"""Pairs of texts keep their second text in the table."""

from __future__ import annotations

import csv

import numpy as np

from masker.commands.discover import write_table
from masker.discovery.discovering import FoundGroups
from masker.discovery.grouping import Grouping
from masker.discovery.text_groups import TextGroup
from masker.discovery.text_store import TextStore


def test_texts_of_no_group_are_left_out(tmp_path):
    group = TextGroup("taxi, ride", ["taxi", "ride"], 2, 0.9, "train", 1.5, True, ["a"], ["b"])
    found = FoundGroups([group], np.array([0, -1, 0]), [0, 1, 2], Grouping(np.array([0]), np.eye(1), np.zeros(1)))
    with TextStore() as store:
        records = [{"text": text, "text_pair": f"{text}, second", "label": "train"} for text in ("a", "odd", "b")]
        store.add(np.zeros((3, 1), dtype=np.float32), records)
        write_table(store, found, tmp_path / "texts.csv")
    with (tmp_path / "texts.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["text", "text_pair", "label", "group"]
    assert rows[1:] == [["a", "a, second", "taxi, ride", "1"], ["b", "b, second", "taxi, ride", "1"]]
