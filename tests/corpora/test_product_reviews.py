"""A made-up checkout of the repository of reviews: two categories, three files each."""

from __future__ import annotations

import pytest

from masker.corpora import product_reviews
from masker.corpora.product_reviews import read_grocery, read_products, review_files
from masker.errors import DataError

FOOD, BOOKS = "Grocery_and_Gourmet_Food", "Books"


def lines(word, count, start=0):
    return [f"{word} {number} .\t{1 if number % 2 else -1}" for number in range(start, start + count)]


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "LifelongSentClass" / "dat" / "dsc"
    folder.mkdir(parents=True)
    content = {
        f"{FOOD}_train": [*lines("soup", 10), "both kinds\t1", "soup 3 .\t1"],
        f"{FOOD}_dev": lines("soup", 3, 20),
        f"{FOOD}_test": [*lines("soup", 4, 30), "soup 5 .\t1", " \t1"],
        f"{BOOKS}_train": [*lines("novel", 10), "both kinds\t-1"],
        f"{BOOKS}_dev": lines("novel", 3, 20),
        f"{BOOKS}_test": lines("novel", 4, 30),
    }
    for name, rows in content.items():
        (folder / f"{name}.tsv").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return tmp_path / "LifelongSentClass"


def test_food_reviews_by_sentiment(checkout):
    """Ten reviews and one more are left of twelve lines; of the test lines one is a training text, one is blank."""
    parts = read_grocery(checkout)
    assert {split: len(rows) for split, rows in parts.items()} == {"train": 11, "test": 7}
    assert {row["label"] for row in parts["train"]} == {"positive", "negative"}
    assert next(row for row in parts["train"] if row["text"] == "soup 2 .") == {
        "text": "soup 2 .",
        "label": "negative",
    }
    assert {row["text"] for row in parts["test"]} == {f"soup {n} ." for n in (20, 21, 22, 30, 31, 32, 33)}


def test_categories_have_no_text_in_common_and_equally_many(checkout, monkeypatch):
    monkeypatch.setattr(product_reviews, "_PER_CLASS", {"train": 8, "test": 5})
    parts = read_products(checkout)
    for split, count in (("train", 8), ("test", 5)):
        assert [row["label"] for row in parts[split]] == [BOOKS] * count + [FOOD] * count
    assert "both kinds" not in {row["text"] for row in parts["train"]}
    assert not {row["text"] for row in parts["train"]} & {row["text"] for row in parts["test"]}
    assert set(parts["train"][0]) == {"text", "label", "sentiment"}
    assert read_products(checkout) == parts, "drawn by the texts, so always the same"


def test_other_folders_and_lines_are_refused(checkout, tmp_path):
    assert len(review_files(checkout)) == 6 and review_files(tmp_path) == []
    with pytest.raises(DataError, match=r"has no files dat/dsc/CATEGORY_train\.tsv; give a checkout"):
        read_products(tmp_path)
    (checkout / "dat" / "dsc" / f"{BOOKS}_dev.tsv").write_text("no label here\n")
    with pytest.raises(DataError, match=r"Books_dev\.tsv, line 1: must end with a tab and 1 or -1; got 'no"):
        read_products(checkout)
