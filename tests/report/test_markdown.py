"""Tables that are aligned as plain text."""

from __future__ import annotations

from masker.report.markdown import markdown_table


def test_words_are_aligned_left_and_numbers_right():
    assert markdown_table(["name", "n"], [["a", "1.5"], ["longer", "10.25"]]) == [
        "| name   |     n |",
        "| ------ | ----: |",
        "| a      |   1.5 |",
        "| longer | 10.25 |",
    ]


def test_several_columns_of_words_and_a_table_without_rows():
    assert markdown_table(["a", "b", "c"], [], left=2) == ["| a   | b   |   c |", "| --- | --- | --: |"]
