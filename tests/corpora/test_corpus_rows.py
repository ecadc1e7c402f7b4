from masker.corpora.corpus_rows import STARS, distinct, normalise, seventy_thirty, shuffled


def test_columns_and_labels_are_renamed_and_unusable_rows_dropped():
    records = [
        {"body": "good", "stars": 5.0, "id": 1},
        {"body": "fine", "stars": 3, "id": 2},
        {"body": "bad", "stars": "1", "id": 3},
        {"body": " \n", "stars": 1, "id": 4},
        {"body": None, "stars": 1, "id": 5},
        {"body": "unrated", "stars": None, "id": 6},
    ]
    rows = list(normalise(records, {"text": "body", "label": "stars"}, STARS))
    assert rows == [{"text": "good", "label": "positive"}, {"text": "bad", "label": "negative"}]


def test_without_a_mapping_labels_are_kept():
    records = [
        {"a": "x", "b": "y", "score": 2.5},
        {"a": "x", "b": "", "score": 1.0},
        {"a": "x", "b": "y", "score": None},
    ]
    rows = list(normalise(records, {"text": "a", "text_pair": "b", "label": "score"}))
    assert rows == [{"text": "x", "text_pair": "y", "label": 2.5}]


def test_the_first_of_equal_texts_stays():
    rows = [{"text": "a", "label": "1"}, {"text": "b", "label": "1"}, {"text": "a", "label": "2"}]
    assert distinct(rows) == rows[:2]


def test_seventy_thirty_within_each_class():
    """70 % of 10 and of 5, rounded down, are 7 and 3."""
    rows = [{"text": f"{label} {i}", "label": label} for label, count in (("a", 10), ("b", 5)) for i in range(count)]
    parts = seventy_thirty(rows)
    assert [sum(row["label"] == label for row in parts[split]) for split in ("train", "test") for label in "ab"] == [
        7, 3, 3, 2,
    ]  # fmt: skip
    assert sorted(row["text"] for part in parts.values() for row in part) == sorted(row["text"] for row in rows)
    assert seventy_thirty(rows[::-1]) == parts


def test_the_order_is_fixed_by_the_texts():
    """By the sha256 of "0:text": f is 49f4, d 7d98, a 9df3, c be08, b e021, e e078. Pairs count both texts."""
    rows = [{"text": text, "label": "x"} for text in "abcdef"]
    assert [row["text"] for row in shuffled(rows)] == list("fdacbe")
    pairs = [{"text": "a", "text_pair": text, "label": "x"} for text in "abcdefgh"]
    assert [row["text_pair"] for row in shuffled(pairs)] != list("abcdefgh")
