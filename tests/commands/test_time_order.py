"""Rows by a column of times."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest

from masker import DataError
from masker.commands.time_order import DATES, NUMBERS, TimeColumn, TimedScores, parse_time, show_time
from masker.documents import Row


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (17, (17.0, NUMBERS)),
        ("1714557600.5", (1714557600.5, NUMBERS)),
        (Decimal("3.5"), (3.5, NUMBERS)),
        ("1970-01-01T00:01:00", (60.0, DATES)),
        ("1970-01-01T00:01:00Z", (60.0, DATES)),
        ("1970-01-01T00:01:00z", (60.0, DATES)),
        ("1970-01-01 02:01:00+02:00", (60.0, DATES)),
        ("1970-01-02", (86400.0, DATES)),
        (date(1970, 1, 2), (86400.0, DATES)),
        (datetime(1970, 1, 1, 0, 1), (60.0, DATES)),
        (datetime(1970, 1, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), (60.0, DATES)),
        ("yesterday", None),
        ("", None),
        (None, None),
        (float("nan"), None),
        (True, None),
        ([], None),
    ],
)
def test_times(value, expected):
    assert parse_time(value) == expected


def test_shown_as_a_date_or_a_number():
    assert show_time(60.0, DATES) == "1970-01-01T00:01:00Z"
    assert show_time(60.0, NUMBERS) == 60.0
    assert parse_time(show_time(60.0, DATES)) == (60.0, DATES), "a state stores what is shown"


def row(value, line=3):
    return Row("text", None, value, line)


def test_a_bad_time_names_the_line():
    column = TimeColumn("when", "log.csv")
    with pytest.raises(
        DataError, match=r"log.csv: column 'when' must hold dates .*; got 'soon' at line 3; .*--skip-inv"
    ):
        column.read(row("soon"))
    column.read(row("2024-05-01"))
    with pytest.raises(DataError, match="column 'when' has numbers at line 9, but dates before"):
        column.read(row("12", 9))


def test_only_what_is_later_than_the_last_run_is_new():
    column = TimeColumn("when", "log.csv", "2024-05-01T00:00:00Z")
    assert not column.is_new(column.read(row("2024-05-01")))
    assert column.is_new(column.read(row("2024-05-01T00:00:01")))
    fresh = TimeColumn("when", "log.csv")
    assert fresh.is_new(-1e300)


def test_order_is_stable_and_late_rows_are_counted():
    scored = TimedScores()
    scored.add([3.0, 1.0, 3.0], [0.3, 0.1, 0.4], [0, 1, 2])
    scored.add([2.0], [0.2], [1])
    times, scores, predicted, late = scored.in_order()
    np.testing.assert_array_equal(times, [1, 2, 3, 3])
    np.testing.assert_array_equal(scores, [0.1, 0.2, 0.3, 0.4])
    np.testing.assert_array_equal(predicted, [1, 1, 0, 2])
    assert late == 2
    assert len(TimedScores().in_order()[0]) == 0
