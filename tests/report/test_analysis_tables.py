"""The analyses as Markdown, from made-up summaries."""

from __future__ import annotations

from masker.report.analysis_tables import analysis_lines

SYSTEMS = {"vanilla": "Vanilla", "masker": "MASKER"}


def lines_of(*rows):
    return analysis_lines({"analysis": list(rows), "systems": SYSTEMS})


def test_keywords_are_listed_up_to_ten():
    words = [f"word{number}" for number in range(11)]
    lines = lines_of({"train": "Topics", "system": "masker", "keywords": ["a|b", *words]})
    assert lines[0].split("|")[1:3] == [" trained on ", " scheme "]
    assert "a\\|b, word0" in lines[2] and "word8" in lines[2] and "word9" not in lines[2]


def test_attended_words_by_mean_and_by_sum():
    lists = {"mean": [{"word": "rare", "score": 2.0}], "sum": [{"word": "the", "score": 9.0}]}
    lines = lines_of({"train": "A", "system": "vanilla", "words": {"B": lists}})
    assert [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]] == [
        ["Vanilla", "A → B", "mean over documents with the word", "rare"],
        ["Vanilla", "A → B", "sum over documents (Eq. 2)", "the"],
    ]


def test_silhouettes_have_a_caption():
    lines = lines_of({"train": "A", "system": "masker", "documents": {"one": 1, "two": 2}, "silhouette": 0.12345})
    assert "near 1 the sets are separated" in lines[0]
    assert [cell.strip() for cell in lines[4].split("|")[1:-1]] == ["A", "one / two", "MASKER", "0.123"]


def test_one_table_of_rates_for_each_model():
    rates = {"food": {"t: food": 50.0, "t: space": 0.0}, "space": {"t: food": 25.0, "t: space": 12.345}}
    lines = lines_of({"train": "A", "rates": rates}, {"train": "B", "rates": rates})
    assert [line for line in lines if line.startswith("Keywords")] == [
        f"Keywords of each class of {name} (columns) among the tokens of other classes (rows), in %." for name in "AB"
    ]
    assert [cell.strip() for cell in lines[5].split("|")[1:-1]] == ["t: space", "0.00", "12.35"]
    assert lines[6] == "" and lines[-1] != ""
