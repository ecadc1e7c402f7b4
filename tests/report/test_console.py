"""What commands print on stdout."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from masker.keywords import Keyword, KeywordSet
from masker.presets import STILL_DIFFERENT
from masker.report.console import (
    DETECTION_COLUMNS,
    OPEN_SET_COLUMNS,
    console,
    print_calibration,
    print_evaluation,
    print_keywords,
    print_training,
)

FIGURE = {"value": 0.9123, "low": 0.9, "high": 0.95}
DETECTION = {
    "score": "auto",
    "auto": {"offsets": {"max-logit": 0.0, "knn": 0.0, "knn-middle": 1.0}},
    "promised": 0.05,
    "confidence": None,
    "rate_interval": [0.0123, 0.1049],
    "held_out": 48,
    "separate": True,
    "by_class": [False, True, True],
}
TRADE_OFF = [
    {"false_alarm_rate": 0.01, "threshold": 2.5, "detected": FIGURE, "chosen": False},
    {"false_alarm_rate": 0.05, "threshold": 1.25, "detected": FIGURE, "chosen": True},
]


def summary(**changes):
    keywords = KeywordSet("attention", tuple(Keyword(word, (n,), 1.0) for n, word in enumerate(["moon", "[soup]"])), 9)
    detector = SimpleNamespace(calibration=SimpleNamespace(threshold=1.25))
    decisions = {"pooling": "mean (as set)", "held out": "none: [cross-fitted] in 5 folds"}
    model = SimpleNamespace(
        validation={"accuracy": 0.87654},
        keywords=keywords,
        detector=detector,
        describe_detector=lambda: DETECTION,
        provenance={"decisions": decisions},
    )
    fields = {"model": model, "documents": 60, "seconds": 12.4, "skipped": 0, "trade_off": None}
    return SimpleNamespace(**{**fields, "folder": "models/[new]", **changes})


def printed(capsys):
    return capsys.readouterr().out


def test_tables_are_not_cut_in_a_file(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert console().width == 120
    console().print("x" * 100)
    assert printed(capsys) == "x" * 100 + "\n"


def test_training(capsys):
    print_training(summary())
    out = printed(capsys)
    assert "trained on 60 documents in 12 s; validation accuracy 0.877" in out
    assert "  pooling:    mean (as set)\n  held out:   none: [cross-fitted] in 5 folds\n" in out
    assert "2 keywords (attention): moon, [soup]" in out
    assert out.count("rejects at most") == 1
    assert (
        "score auto (max-logit and knn, guarded by knn-middle); rejects at most 5 % of in-distribution texts of" in out
    )
    assert "a class's own rate lies between 1.2 and 10.5 % with 90 % probability (48 held-out texts)\n" in out
    assert "exceeds 1.25, or the threshold of its predicted class (2 classes have their own)" in out
    assert "skipped" not in out
    assert out.splitlines()[-1] == "try:   echo 'some text' | masker predict models/[new] -"


def test_training_with_skipped_rows_and_examples(capsys):
    print_training(summary(skipped=3, trade_off=TRADE_OFF))
    out = printed(capsys)
    assert "skipped 3 rows without text or label" in out
    rows = [line for line in out.splitlines() if "91.2" in line]
    assert "2.5" in rows[0] and "chosen" not in rows[0]
    assert "1.25" in rows[1] and "chosen" in rows[1]


def test_training_of_a_regression_names_no_threshold(capsys):
    model = SimpleNamespace(validation={"pearson": 0.5}, keywords=None, detector=None, provenance={})
    print_training(summary(model=model))
    out = printed(capsys)
    assert "validation pearson 0.500" in out
    assert "out-of-distribution" not in out and "keywords" not in out


def test_training_without_held_out_documents(capsys):
    nothing = {**DETECTION, "score": "max-prob", "auto": None, "promised": None, "held_out": 0}
    model = SimpleNamespace(
        validation={},
        keywords=None,
        detector=SimpleNamespace(calibration=SimpleNamespace(threshold=float("inf"))),
        describe_detector=lambda: {**nothing, "thresholds": [None, None, None]},
        provenance={"decisions": {"held out": "none: all documents train"}},
    )
    print_training(summary(model=model), "ood")
    out = printed(capsys)
    assert "trained on 60 documents in 12 s; none held out\n" in out
    assert "score max-prob; no text was held out, so nothing is rejected: set a threshold with 'masker calibrate" in out
    assert "exceeds" not in out
    lines = out.splitlines()
    [place] = (place for place, line in enumerate(lines) if line == "  preset:     ood: as in the paper, except:")
    listed = [line for line in lines[place:] if line.startswith("              - ")]
    assert len(listed) == len(STILL_DIFFERENT) and "docs/equations.md" in listed[-1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"promised": None}, "guarded by knn-middle); its threshold was given, so no false-alarm rate is promised"),
        (
            {"by_class": [False]},
            "rejects at most 5 % of in-distribution texts on average; this model's own rate lies between 1.2 and "
            "10.5 % with 90 % probability (48 held-out texts)\n",
        ),
        (
            {"by_class": [False], "confidence": 0.95, "promised": 0.0605},
            "rejects at most 6.05 % of in-distribution texts with 95 % confidence (48 held-out texts)\n",
        ),
        ({"confidence": 0.999}, "texts of each predicted class with 99.9 % confidence each (48 held-out texts)\n"),
        ({"separate": False}, "(48 held-out texts, which also selected the model, so approximately)\n"),
        ({"score": "energy", "auto": None}, "score energy; rejects at most 5 %"),
        ({"auto": {"offsets": {"max-logit": 0.0, "knn": 0.0}}}, "score auto (max-logit and knn); rejects at most 5 %"),
    ],
)
def test_promise(capsys, changes, words):
    report = {**DETECTION, "threshold": 1.25, "temperature": 1.5, "documents": 9, "data": "new.csv", "labelled": True}
    print_calibration({**report, "trade_off": None, "model": "model", **changes})
    assert words in printed(capsys)


def test_calibration(capsys):
    report = {**DETECTION, "threshold": 1.25, "by_class": [False], "documents": 9, "data": "[x].csv"}
    print_calibration({**report, "temperature": 1.5, "labelled": False, "trade_off": TRADE_OFF, "model": "a[b]"})
    out = printed(capsys)
    assert "calibrated on 9 documents of [x].csv" in out
    assert "confidence temperature 1.5, unchanged because the documents have no labels" in out
    assert "predicted class" not in out
    assert "examples detected at each false-alarm rate" in out
    assert out.splitlines()[-1] == "model: a[b]"


def test_evaluation(capsys):
    report = {
        "test": "[held].csv",
        "documents": 30,
        "classification": {"accuracy": FIGURE},
        "rejected": 0.1,
        "false_alarms": {"promised": 0.05, "confidence": 0.95, "realised": {"value": 0.1, "low": 0.02, "high": 0.27}},
        "selective": {name: {"aurc": FIGURE} for name in ("confidence", "ood_score")},
        "ood": {
            "[other]": {
                "documents": 20,
                "rejected": 0.75,
                **dict.fromkeys(DETECTION_COLUMNS, FIGURE),
                "open_set": {key: {"value": 0.8345, "low": 0.8, "high": 0.86} for key in OPEN_SET_COLUMNS},
            }
        },
    }
    print_evaluation(report)
    out = printed(capsys)
    for words in (
        "[held].csv (30 documents)",
        "0.9123",
        "0.9000 – 0.9500",
        "rejected as OOD (promised 0.05 with 95 % confidence)",
        "[other]",
    ):
        assert words in out
    assert "75.0" in out and out.count("91.2") == len(DETECTION_COLUMNS)
    assert out.count("83.5") == len(OPEN_SET_COLUMNS)
    for heading in (*DETECTION_COLUMNS.values(), *OPEN_SET_COLUMNS.values()):
        assert heading in out


def test_evaluation_of_a_regression(capsys):
    print_evaluation({"test": "t", "documents": 5, "regression": {"pearson": FIGURE}})
    out = printed(capsys)
    assert "pearson" in out and "OOD" not in out


def test_keywords_are_ranked_and_not_read_as_markup(capsys):
    print_keywords(KeywordSet("frequency", (Keyword("[bold]", (4,), 0.123456), Keyword("moon", (5,), 0.1)), 9))
    out = printed(capsys)
    assert "2 keywords (frequency)" in out
    first, second = (next(line for line in out.splitlines() if word in line) for word in ("[bold]", "moon"))
    assert "1" in first and "0.1235" in first and "2" in second
