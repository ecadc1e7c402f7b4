"""The heat map of keywords."""

from __future__ import annotations

from dataclasses import replace

from masker.analysis.report_data import KeywordRates
from masker.report.figures.keyword_heat_map import draw_keyword_heat_map
from tests.report.figures.looks import drawn, texts_of
from tests.report.made_report import class_names, made_report


def test_rates_and_the_words_behind_them():
    rates = {"food": {"t: food": 50.0, "t: space": 0.0}, "space": {"t: food": 2.54, "t: space": 12.0}}
    shown = KeywordRates("attention", {"food": ["soup", "bread"], "space": ["moon"]}, rates)
    picture = drawn(draw_keyword_heat_map, replace(made_report(class_names(2)), keyword_rates=shown))
    assert picture.tips["keyword-squares"] == [
        "50.00 % of the tokens of t: food are keywords of food: soup, bread",
        "2.54 % of the tokens of t: food are keywords of space: moon",
        "12.00 % of the tokens of t: space are keywords of space: moon",
    ]
    assert {"50", "2.5", "12", "t: space"} <= texts_of(picture) and "50.0 %" in picture.caption


def test_rates_of_zero():
    shown = KeywordRates("frequency", {"a": []}, {"a": {"b": 0.0}})
    picture = drawn(draw_keyword_heat_map, replace(made_report(class_names(2)), keyword_rates=shown))
    assert picture.tips == {"keyword-squares": []}


def test_says_that_not_all_classes_are_shown():
    shown = KeywordRates("attention", {"a": ["soup"]}, {"a": {"a": 2.0}})
    picture = drawn(draw_keyword_heat_map, replace(made_report(class_names(2)), keyword_rates=shown))
    assert picture.caption.startswith("1 of 2 classes, from a sample of documents. Share of the tokens")
