"""A made-up report with every part, for any number of classes and any names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from masker.analysis.answers import Answered, describe_answers
from masker.analysis.conclusion import conclude
from masker.analysis.report_data import (
    AttendedWords,
    DocumentMap,
    KeywordList,
    KeywordRates,
    MapPoint,
    ModelFacts,
    Report,
    RiskyText,
)
from masker.analysis.score_curves import detection_curve, score_histogram
from masker.config import Settings
from masker.detection.calibration import Calibration
from masker.detection.detector import Judgement
from masker.metrics import aurc, auroc, risk_coverage

#: Would be markup, a formula, a broken file or a garbled line if taken at its word.
HOSTILE = (
    "<script>alert(1)</script>",
    "a&b $\\frac{1}{$ _x_",
    "\"'><img src=x onerror=alert(2)>",
    "خدمة العملاء والتوصيل",
    "שירות לקוחות",
    "😀 refund 🧾",
    "nul\x00 line\nbreak \u202eoverride",
    "a very long label that goes on and on until nobody can read it any more, not even on a wide screen",
    "配送について",
    "{{ 7 * 7 }} {% raw %}",
)


def interval(value: float, spread: float = 0.05) -> dict[str, float]:
    return {"value": value, "low": max(0.0, value - spread), "high": min(1.0, value + spread)}


def class_names(count: int) -> list[str]:
    return [f"class {number:03d}" for number in range(count)]


def made_report(classes: Sequence[str], *, documents: int = 300, foreign: Sequence[str] = ("reviews",), seed: int = 0):
    """A report on a model that is right four times out of five."""
    draw = np.random.default_rng(seed)
    n_classes = len(classes)
    labels = draw.integers(n_classes, size=documents)
    labels[:n_classes] = np.arange(n_classes)[:documents]
    rule = Calibration.fit(
        draw.gamma(2.0, size=200), draw.integers(n_classes, size=200), n_classes, 0.05, class_conditional=False
    )

    def judgement(count: int, scale: float, true=None) -> Judgement:
        confidence = draw.beta(5, 1.2, size=count)
        predicted = draw.integers(n_classes, size=count)
        if true is not None:
            predicted = np.where(draw.random(count) < 0.8, true, predicted)
        scores = scale * draw.gamma(2.0, size=count)
        p_values = rule.p_values(scores, predicted)
        return Judgement(confidence[:, None], predicted, confidence, scores, p_values, rule.rejects(scores, predicted))

    answered = Answered("made-up test", False, True, labels, judgement(documents, 1.0, labels))
    others = {name: judgement(documents, 2.5 + place) for place, name in enumerate(foreign)}
    known = describe_answers(answered, list(classes), others)
    facts = ModelFacts(
        "made up", "masker", "minilm", list(classes), False, 64, "made-up data", 1000, "2026-01-01", "auto",
        rule.threshold, rule.promised, None, 1.3,
    )  # fmt: skip
    evaluation = _evaluation(answered, others)
    words = [{"word": word, "score": 10.0 / place} for place, word in enumerate([*HOSTILE[:5], "refund", "##ed"], 1)]
    rates = {one: {two: max(0.0, round(float(draw.gamma(0.4)) - 0.8, 3)) for two in classes} for one in classes}
    points = [
        MapPoint(*map(float, draw.normal(size=2)), name, classes[0], HOSTILE[place % len(HOSTILE)])
        for name in ("made-up test", *foreign)
        for place in range(60)
    ]
    curves = {name: detection_curve(answered.judged, judged) for name, judged in others.items()}
    return Report(
        facts,
        conclude(facts, evaluation, known, curves),
        evaluation,
        known,
        score_histogram({answered.name: answered.judged.scores} | {k: v.scores for k, v in others.items()}, rule),
        curves,
        losses=_losses(draw),
        keywords=[KeywordList("attention", True, 70, words), KeywordList("frequency", False, 70, words[::-1])],
        keyword_rates=KeywordRates("attention", {name: ["one", "two"] for name in classes}, rates),
        maps=[DocumentMap("known and foreign", ["made-up test", *foreign], points, 0.21)],
        attended=[AttendedWords("made up", "test", words), AttendedWords("vanilla", "test", words)],
        risky={
            "confidently wrong": [RiskyText(text, classes[0], classes[-1], 0.97, 0.4) for text in HOSTILE],
            f"answered although foreign: {HOSTILE[0]}": [RiskyText("text", "reviews", classes[0], 0.9, 0.3)],
        },
        decisions={"held out": "none <b>at all</b>"},
        settings=Settings().model_dump(),
        provenance={
            "created": "2026-01-01T00:00:00+00:00",
            "seed": 0,
            "versions": {"masker": "0"},
            "data": "/home/me/x",
        },
    )


def _evaluation(answered, others):
    judged, wrong = answered.judged, ~answered.right
    selective = {}
    for name, doubt in {"confidence": -answered.confidence, "ood_score": judged.scores}.items():
        curve = risk_coverage(doubt, wrong).thinned(100)
        selective[name] = {"aurc": interval(aurc(doubt, wrong), 0.01), "curve": curve}
    return {
        "test": answered.name,
        "documents": len(answered.labels),
        "classification": {
            name: interval(value) for name, value in (("accuracy", 0.8), ("macro_f1", 0.78), ("ece", 0.04))
        },
        "rejected": float(judged.rejected.mean()),
        "false_alarms": {
            "realised": interval(float(judged.rejected.mean())),
            "rate_interval": [0.03, 0.075],
            "held_out": 200,
        },
        "selective": selective,
        "ood": {
            name: {
                "documents": len(other.scores),
                "rejected": float(other.rejected.mean()),
                "auroc": interval(auroc(judged.scores, other.scores), 0.02),
            }
            for name, other in others.items()
        },
    }


def _losses(draw):
    def curve(terms, steps):
        fall = np.exp(-np.arange(steps) / 8)
        return {"step": list(range(1, steps + 1))} | {
            name: (scale * (fall + 0.2 + 0.1 * draw.random(steps))).round(4).tolist() for name, scale in terms.items()
        }

    three = {"L_CE": 1.0, "L_MKR": 30.0, "L_MER": 2.0}
    return {f"fold-{n}/masker": curve(three, 24) for n in range(1, 6)} | {"vanilla": curve({"L_CE": 1.2}, 16)}
