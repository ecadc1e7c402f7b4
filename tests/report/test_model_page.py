"""The page: self-contained, escaped, and with everything in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace

import pytest

pytest.importorskip("jinja2")

from masker.analysis.report_data import Report
from masker.config import build_settings
from masker.report.model_page import ShownFigure, changed_settings, frequent_mix_ups, key_figures, model_page
from tests.report.html_tree import read_page
from tests.report.made_report import HOSTILE, class_names, interval, made_report


def page_of(report: Report) -> str:
    return model_page(report, {})


def test_foreign_text_is_never_markup():
    page = page_of(made_report(HOSTILE, foreign=HOSTILE[:3]))
    tree = read_page(page)
    assert tree.tags.count("script") == 1 and not {"img", "b"} & set(tree.tags) and tree.links == []
    text = " ".join(" ".join(tree.text).split())
    assert "<script>alert(1)</script>" in text and "{{ 7 * 7 }} {% raw %}" in text and "none <b>at all</b>" in text
    assert "nul line break override" in text and "\x00" not in page and "\u202e" not in page
    assert "خدمة العملاء والتوصيل" in text


def test_the_page_loads_nothing_and_runs_nothing_but_its_own_script():
    page = page_of(made_report(class_names(3)))
    assert not re.search(r"url\((?!#)|@import|https?://", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    script = re.search(r"<script>(.*)</script>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_figures_are_part_of_the_page():
    figure = ShownFigure("roc", "Title", "Caption <x>", "<svg role='img'></svg>", "wide")
    page = model_page(made_report(class_names(3)), {"Does it notice foreign text?": [figure]})
    tree = read_page(page)
    assert tree.tags.count("svg") == 1 and "Caption <x>" in tree.text and 'class="wide"' in page
    assert "Are its answers right?" not in tree.text, "a section without figures is left out"


def test_key_figures():
    report = made_report(class_names(3))
    titles = [figure.title for figure in key_figures(report)]
    assert titles == [
        "right class",
        "macro F1",
        "calibration error",
        "false alarms",
        "AUROC, reviews",
        "rejected of reviews",
    ]
    right = report.known.right
    assert key_figures(report)[0].interval == f"{100 * right['low']:.1f} to {100 * right['high']:.1f} %"
    held_out = replace(report, known=replace(report.known, held_out=True))
    assert "false alarms" not in [figure.title for figure in key_figures(held_out)], "they set the threshold"
    assert key_figures(replace(report, evaluation=None)) == []
    number = replace(report, evaluation={"regression": {"pearson": interval(0.5)}}, known=None)
    assert [figure.title for figure in key_figures(number)] == ["pearson"]


def test_figures_without_a_spread_are_no_key_figures():
    report = made_report(class_names(3))
    certain = {**report.evaluation["classification"], "macro_f1": {"value": 1.0, "low": 1.0, "high": 1.0}}
    report = replace(report, evaluation={**report.evaluation, "classification": certain})
    assert "macro F1" not in [figure.title for figure in key_figures(report)]


def test_many_classes_have_tables():
    few, many = made_report(class_names(5)), made_report(class_names(150), documents=1000)
    assert frequent_mix_ups(few.known) == []
    rows = frequent_mix_ups(many.known)
    assert len(rows) == 10 and all(row["true"] != row["answer"] for row in rows)
    assert [row["count"] for row in rows] == sorted((row["count"] for row in rows), reverse=True)
    assert not {"rejected", "reviews"} & {row[key] for row in rows for key in ("true", "answer")}
    figures = {"Are its answers right?": [ShownFigure("classes", "Title", "Caption", "<svg></svg>", "")]}
    text = " ".join(read_page(model_page(many, figures)).text)
    assert "All classes" in text and "class 149" in text and "Most frequent mix-ups" in text
    assert "All classes" not in " ".join(read_page(model_page(few, figures)).text)


def test_settings_and_provenance():
    settings = build_settings({"training": {"seed": 7}, "keywords": {"source": "<frequency>"}}).model_dump()
    assert changed_settings(settings) == {"keywords.source": "<frequency>", "training.seed": 7}
    report = replace(made_report(class_names(2)), settings=settings)
    text = " ".join(read_page(page_of(report)).text)
    assert "<frequency>" in text and "masker 0" in text and "loss.lambda_mkr" in text
    assert "/home/me" not in text, "the folders of the machine are nobody's business"


def test_a_report_with_nothing_in_it():
    report = made_report(class_names(2))
    page = page_of(Report(report.model, ["Nothing is known."], None, settings=report.settings))
    assert "Nothing is known." in read_page(page).text
    facts = replace(report.model, classes=[], score=None, documents=None, created="", data="")
    assert "regression" in " ".join(read_page(page_of(Report(facts, ["x"], None))).text)
    assert json.dumps(Report(facts, ["x"], None).to_json())
