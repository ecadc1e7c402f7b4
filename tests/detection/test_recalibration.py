"""What a calibration changes in the settings, and how it splits the texts."""

import numpy as np
import pytest

from masker.config import build_settings
from masker.detection.recalibration import check_statistics, choosing_split, recalibrated_settings
from masker.errors import ConfigError, DataError, ModelError

SETTINGS = build_settings({"training": {"method": "vanilla"}, "detection": {"false_alarm_rate": 0.1}})
LABELS = ["a", "b"] * 40


def test_statistics_need_every_class_and_a_score_that_learns_from_them():
    check_statistics(["a", "b", "a"], ["a", "b"], SETTINGS)
    with pytest.raises(DataError, match="every class of the model needs at least one text"):
        check_statistics(["a", "a"], ["a", "b"], SETTINGS)
    with pytest.raises(ConfigError, match="method openmax has a score of its own"):
        check_statistics(["a", "b"], ["a", "b"], build_settings({"training": {"method": "openmax"}}))


class TestSettings:
    def test_only_what_is_asked_for_changes(self):
        assert recalibrated_settings(SETTINGS, "auto") == SETTINGS
        changed = recalibrated_settings(SETTINGS, "auto", "knn", 0.2, True).detection
        assert (changed.score, changed.false_alarm_rate, changed.class_conditional) == ("knn", 0.2, True)
        assert recalibrated_settings(SETTINGS, "max-prob").detection.score == "max-prob", "the score in use"

    def test_a_rate_replaces_the_published_rule(self):
        doc = build_settings({"training": {"method": "doc"}, "detection": {"rule": "published"}})
        assert recalibrated_settings(doc, "doc").detection.rule == "published"
        assert recalibrated_settings(doc, "doc", None, 0.2).detection.rule == "false-alarm-rate"

    def test_confidence(self):
        sure = recalibrated_settings(SETTINGS, "auto", confidence=0.95)
        assert sure.detection.confidence == 0.95
        assert recalibrated_settings(sure, "auto", None, 0.2).detection.confidence == 0.95
        assert recalibrated_settings(sure, "auto", confidence=0).detection.confidence is None
        with pytest.raises(ConfigError, match=r"detection.confidence: must be at least 0.5 and below 1.*; got 0.05"):
            recalibrated_settings(SETTINGS, "auto", confidence=0.05)
        doc = build_settings({"training": {"method": "doc"}, "detection": {"rule": "published"}})
        assert recalibrated_settings(doc, "doc", confidence=0.9).detection.rule == "false-alarm-rate"

    def test_a_score_of_its_own_is_not_changed(self):
        doc = build_settings({"training": {"method": "doc"}})
        assert recalibrated_settings(doc, "doc", "doc").detection.score == "auto"
        with pytest.raises(ConfigError, match="method doc has one of its own; leave --score out"):
            recalibrated_settings(doc, "doc", "energy")

    def test_refused(self):
        for score, rate, message in (
            ("enrgy", None, "score"),
            ("openmax", None, "belongs to a training method of its own"),
            (None, 1.5, "false_alarm_rate"),
        ):
            with pytest.raises(ConfigError, match=message):
                recalibrated_settings(SETTINGS, "auto", score, rate)

    def test_a_score_that_is_not_installed_has_to_be_replaced(self):
        with pytest.raises(ModelError, match=r"'vim', which was removed from masker.*--score auto"):
            recalibrated_settings(SETTINGS, "vim", None, 0.2)
        assert recalibrated_settings(SETTINGS, "vim", "auto").detection.score == "auto"


class TestSplit:
    def test_two_halves_of_each_class(self):
        choosing, held_out = choosing_split(LABELS, 80, SETTINGS)
        assert sorted([*choosing, *held_out]) == list(range(80)) and len(choosing) == len(held_out) == 40
        assert np.unique([LABELS[row] for row in choosing], return_counts=True)[1].tolist() == [20, 20]

    def test_too_few(self):
        for labels, message in (
            (None, "chosen on labelled texts"),
            (LABELS[:39], "at least 40 labelled texts, half of them to choose it on; got 39"),
        ):
            with pytest.raises(DataError, match=message):
                choosing_split(labels, 80 if labels is None else len(labels), SETTINGS)
        most = build_settings({"data": {"calibration_share": 0.9}})
        with pytest.raises(DataError, match=r"here 8 and 72 \(data.calibration_share=0.9\); give more texts"):
            choosing_split(LABELS, 80, most)

    def test_classes_of_one_text(self):
        choosing, held_out = choosing_split([f"class {n}" for n in range(40)], 40, SETTINGS)
        assert len(choosing) == len(held_out) == 20
