from __future__ import annotations

import json

from masker.monitoring.traffic_series import Block, TrafficSeries


def fill(series, count, size=10, first=1):
    for number in range(count):
        start = first + number * size
        series.add(Block(start, f"t{start}", size, number % 3, float(number)))
    return series


def test_parts_of_a_block_are_joined():
    series = TrafficSeries(10)
    series.add(Block(1, "a", 4, 1, 0.5))
    series.add(Block(5, "b", 6, 2, 0.2))
    series.add(Block(11, "c", 3, 0, 0.1))
    assert (
        series.whole()
        == series.recent()
        == [
            {"start": 1, "time": "a", "texts": 10, "strange": 3, "evidence": 0.5},
            {"start": 11, "time": "c", "texts": 3, "strange": 0, "evidence": 0.1},
        ]
    )


def test_a_long_course_stays_short():
    series = fill(TrafficSeries(10), 5000)
    blocks = series.whole()
    assert 100 <= len(blocks) <= 201 and len(series.recent()) == 60
    assert sum(block["texts"] for block in blocks) == 50_000
    assert sum(block["strange"] for block in blocks) == sum(number % 3 for number in range(5000))
    assert blocks[-1]["evidence"] == 4999.0
    starts = [block["start"] for block in blocks]
    assert starts == sorted(starts) and starts[0] == 1
    assert {block["texts"] for block in blocks[:-1]} == {blocks[0]["texts"]}


def test_time_of_a_text():
    series = fill(TrafficSeries(10), 5000)
    assert series.time_of(49_995) == "t49991", "a recent one to the step"
    early = series.time_of(20_000)
    assert early.startswith("t19") and int(early[1:]) <= 20_000
    assert TrafficSeries(10).time_of(3) is None


def test_json_and_back():
    series = fill(TrafficSeries(10), 777)
    again = TrafficSeries.from_json(json.loads(json.dumps(series.to_json())))
    for one in (series, again):
        fill(one, 500, first=7771)
    assert again.to_json() == series.to_json()


def test_a_new_block_is_empty():
    assert Block(3, "t") == Block(3, "t", texts=0, strange=0, evidence=0.0)


def test_blocks_are_joined_when_there_are_more_than_200():
    series = fill(TrafficSeries(10), 200)
    assert [block["texts"] for block in series.whole()] == [10] * 200
    fill(series, 1, first=2001)
    assert [block["texts"] for block in series.whole()] == [20] * 100 + [10]


def test_time_of_the_first_text_of_a_block():
    series = fill(TrafficSeries(10), 3)
    assert [series.time_of(position) for position in (0, 1, 10, 11, 21)] == [None, "t1", "t1", "t11", "t21"]
