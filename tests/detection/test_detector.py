"""The detector: judging, another score or rule, and its stored form."""

import numpy as np
import pytest

from masker.detection.calibration import Calibration
from masker.detection.detector import Detector, HeldOut, checked_scores
from masker.detection.score import Score
from masker.detection.scores.max_probability import MaxProbabilityScore
from masker.errors import ConfigError, ModelError
from masker.inference.outputs import Outputs
from tests.detection.fake_backend import settings

SETTINGS = settings("max-prob", head="one-vs-rest")
HEAD = SETTINGS.model.head
SCORES = {"max-prob": np.arange(1.0, 20.0) / 20, "energy": -np.arange(1.0, 20.0)}
PREDICTED = np.array([0] * 10 + [1] * 9)
LOGITS = np.array([[3.0, -3.0], [-1.0, -2.0]], dtype=np.float32)


def detector(rate=0.1, temperature=1.0, columns=SCORES) -> Detector:
    rule = Calibration.fit(columns["max-prob"], PREDICTED, 2, rate, class_conditional=False)
    return Detector(MaxProbabilityScore(HEAD), rule, temperature, HeldOut(columns, PREDICTED, True), HEAD)


def stored(one: Detector, name="max-prob", **columns) -> Detector:
    arrays = {**one.to_arrays(), **{f"held_out.{other}": column for other, column in columns.items()}}
    return Detector.from_stored({"score": name, "detection": one.to_manifest()}, arrays, SETTINGS)


class TestJudge:
    def test_by_hand(self):
        """Scores sigma(-3) = 0.047 and sigma(1) = 0.731. Rate 0.1 of 19: k = 18, threshold 0.9: none is rejected.

        No held-out score is below 0.047, so p = 20/20; 0.75 ... 0.95 are five at least as high as 0.731: p = 6/20.
        """
        judged = detector(temperature=2.0).judge(Outputs(LOGITS))
        assert judged.scores == pytest.approx([0.0474, 0.7311], abs=1e-4)
        assert judged.p_values == pytest.approx([1.0, 0.3]) and judged.predicted.tolist() == [0, 0]
        assert not judged.rejected.any()
        assert judged.raw_confidence == pytest.approx([0.9526, 0.2689], abs=1e-4)
        assert judged.probabilities[0] == pytest.approx([0.8176, 0.1824], abs=1e-4), "sigmoids of 3/2 and -3/2"

    def test_no_documents(self):
        judged = detector().judge(Outputs(np.empty((0, 2), dtype=np.float32)))
        assert [len(part) for part in judged[:6]] == [0] * 6
        assert judged.given is None

    def test_nan_is_an_error(self):
        class Fixed(Score):
            name = "fixed"

            def ood_score(self, outputs):
                return values

        with pytest.raises(ModelError, match="the network gives NaN in place of numbers"):
            detector().judge(Outputs(np.full((1, 2), np.nan, dtype=np.float32)))
        values = [1.0, np.nan]
        with pytest.raises(ModelError, match="score 'fixed' gives NaN"):
            checked_scores(Fixed(), Outputs(LOGITS))
        values = np.ones((2, 1))
        with pytest.raises(ModelError, match=r"one number per document, shape \(2,\); got shape \(2, 1\)"):
            checked_scores(Fixed(), Outputs(LOGITS))
        values = np.array([1, 2], dtype=np.float32)
        assert checked_scores(Fixed(), Outputs(LOGITS)).dtype == np.float64


class TestAdjusted:
    def test_nothing_asked_for(self):
        one = detector()
        assert one.adjusted(SETTINGS) == (one, SETTINGS.detection)
        assert one.adjusted(SETTINGS, score="max-prob")[0] is one

    def test_another_rate_by_hand(self):
        """Rate 0.5 of 19: k = 10, threshold 10/20. By class: k = ceil(11/2) = 6 of ten, ceil(10/2) = 5 of nine."""
        one, detection = detector().adjusted(SETTINGS, false_alarm_rate=0.5)
        assert one.calibration.thresholds.tolist() == [0.5, 0.5]
        assert (detection.false_alarm_rate, detection.score) == (0.5, "max-prob")
        one, detection = detector().adjusted(SETTINGS, false_alarm_rate=0.5, class_conditional=True)
        assert one.calibration.thresholds.tolist() == [0.3, 0.75] and detection.class_conditional

    def test_another_score_keeps_the_rate(self):
        one, detection = detector(rate=0.25).adjusted(SETTINGS, score="energy")
        assert one.score.name == detection.score == "energy" and detection.false_alarm_rate == 0.25
        assert one.calibration.threshold == np.sort(SCORES["energy"])[14], "k = ceil(20 * 0.75) = 15"

    def test_confidence_by_hand(self):
        """Rate 0.5 of 19 with 0.9: P(Bin(19, 1/2) >= 7) = 0.916 and P(... >= 8) = 0.820, so k = 13; then 0 is back to
        k = 10. A rate or a score given alone keeps the confidence."""
        sure, detection = detector().adjusted(SETTINGS, false_alarm_rate=0.5, confidence=0.9)
        assert sure.calibration.threshold == 13 / 20 and detection.confidence == sure.calibration.confidence == 0.9
        changed = SETTINGS.model_copy(update={"detection": detection})
        other, detection = sure.adjusted(changed, score="energy")
        assert other.calibration.confidence == detection.confidence == 0.9
        back, detection = sure.adjusted(changed, confidence=0)
        assert back.calibration.threshold == 0.5 and detection.confidence is back.calibration.confidence is None

    def test_a_rate_replaces_the_published_rule(self):
        published = SETTINGS.model_copy(
            update={"detection": SETTINGS.detection.model_copy(update={"rule": "published"})}
        )
        one = Detector(**{**vars(detector()), "calibration": detector().calibration.with_threshold(0.0)})
        adjusted, detection = one.adjusted(published, false_alarm_rate=0.1)
        assert detection.rule == "false-alarm-rate" and adjusted.calibration.promised == 0.1

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"score": "enrgy"}, r"offers max-prob, energy; got 'enrgy'\. Did you mean 'energy'"),
            ({"score": "entropy"}, r"Add it with 'masker calibrate MODEL DATA --score entropy'$"),
            ({"score": "knn"}, r"Add it with 'masker calibrate MODEL DATA --score knn --statistics TRAINING_DATA'$"),
            ({"score": "auto"}, r"--score auto --statistics TRAINING_DATA'$"),
            ({"score": "vim"}, r"That score was removed from masker$"),
            ({"score": "openmax"}, r"That score belongs to a training method of its own"),
            ({"false_alarm_rate": 1.5}, r"must lie between 0 and 1; got 1\.5"),
            ({"confidence": 0.05}, r"^confidence: must be at least 0\.5 and below 1, such as 0\.95.*; got 0\.05$"),
            ({"confidence": 1.0}, r"below 1"),
            ({"confidence": float("nan")}, r"below 1"),
        ],
    )
    def test_refused(self, change, message):
        with pytest.raises(ConfigError, match=message):
            detector().adjusted(SETTINGS, **change)


class TestStored:
    def test_round_trip(self):
        one = detector(temperature=1.7)
        again = stored(one)
        assert again.to_manifest() == one.to_manifest() and again.available() == one.available()
        for name, array in one.to_arrays().items():
            np.testing.assert_array_equal(again.to_arrays()[name], array)
        for left, right in zip(again.judge(Outputs(LOGITS)), one.judge(Outputs(LOGITS)), strict=True):
            np.testing.assert_array_equal(left, right)

    def test_format(self):
        """The keys that model folders have had since scores can be chosen, and two on how sure the promise is."""
        assert set(detector().to_manifest()) == {
            "features", "temperature", "false_alarm_rate", "promised", "thresholds", "by_class", "held_out", "separate",
            "auto", "confidence", "rate_interval",
        }  # fmt: skip
        assert set(detector().to_arrays()) == {"held_out.max-prob", "held_out.energy", "held_out.predicted"}

    def test_confidence(self):
        sure, _ = detector().adjusted(SETTINGS, confidence=0.9)
        assert stored(sure).calibration.confidence == 0.9 and stored(sure).to_manifest() == sure.to_manifest()
        earlier = sure.to_manifest()
        del earlier["confidence"], earlier["rate_interval"]
        opened = Detector.from_stored({"score": "max-prob", "detection": earlier}, sure.to_arrays(), SETTINGS)
        assert opened.calibration.confidence is None, "a folder of an earlier version"

    def test_scores_that_were_removed_are_dropped(self):
        again = stored(detector(), vim=np.zeros(19))
        assert set(again.held_out.scores) == {"max-prob", "energy"}

    def test_a_score_in_use_that_was_removed(self):
        """The model opens, says what to do, can be stored again, and can have another score."""
        again = stored(stored(detector(), "vim", vim=np.arange(19.0)), "vim")
        assert again.available() == ["max-prob", "energy"]
        with pytest.raises(ModelError, match="score 'vim', which was removed from masker; choose another"):
            again.judge(Outputs(LOGITS))
        with pytest.raises(ConfigError, match=r"got 'vim'\. That score was removed"):
            again.adjusted(SETTINGS, false_alarm_rate=0.2)
        chosen, _ = again.adjusted(SETTINGS, score="energy")
        assert chosen.judge(Outputs(LOGITS)).scores == pytest.approx([-3.0972, -0.4402], abs=1e-4)

    def test_a_threshold_from_outside_stays(self):
        one = Detector(**{**vars(detector()), "calibration": detector().calibration.with_threshold(0.7)})
        assert stored(one).calibration.promised is None and stored(one).calibration.threshold == 0.7
