"""Fitting and recalibrating a detector on a fake network, with scores of both sorts, from masker and from outside."""

from dataclasses import replace

import numpy as np
import pytest

from masker.detection.auto import Observed
from masker.detection.detector import Detector
from masker.detection.fitting import DetectorFitter
from masker.errors import ConfigError, ModelError
from masker.inference.windows import document_outputs
from masker.keywords import Keyword, KeywordSet
from masker.registry import METHODS
from tests.detection.fake_backend import TOKENIZER, FakeBackend, documents, settings

TRAIN, VALIDATION, CALIBRATION, NEW = (documents(count, seed) for seed, count in enumerate((150, 60, 60, 90)))
STRANGE = documents(30, 9, strange=True)
KEYWORDS = KeywordSet("user", tuple(Keyword(str(token), (token,), 1.0) for token in range(10, 40, 2)), 40)
LOGIT_SCORES = {"max-prob", "max-logit", "energy", "entropy"}


def fitter(chosen) -> DetectorFitter:
    return DetectorFitter(FakeBackend(), TOKENIZER, KEYWORDS, chosen)


def fit(chosen, calibration=CALIBRATION) -> Detector:
    return fitter(chosen).fit(TRAIN, VALIDATION, calibration)


def outputs(encoded, kinds=("cls", "middle", "vectors")):
    return document_outputs(FakeBackend(), encoded, "mean", kinds=kinds)


def stored(detector: Detector, chosen) -> Detector:
    """The detector after a round trip through its stored form."""
    manifest = {"score": detector.score.name, "detection": detector.to_manifest()}
    arrays = {name: np.array(array) for name, array in detector.to_arrays().items()}
    return Detector.from_stored(manifest, arrays, chosen)


def assert_same(one: Detector, other: Detector) -> None:
    assert one.available() == other.available() and one.to_manifest() == other.to_manifest()
    for left, right in zip(one.judge(outputs(NEW)), other.judge(outputs(NEW)), strict=True):
        np.testing.assert_array_equal(left, right)


class TestFit:
    def test_auto(self):
        detector = fit(settings())
        assert detector.score.name == "auto" and set(detector.basis.statistics.moments) == {"cls", "middle"}
        evidence = detector.to_manifest()["auto"]["evidence"]
        assert set(evidence["knn"]) == set(evidence["max-logit + knn"]) == {"context masked", "keywords only"}
        assert {"auto", "knn", "relative-mahalanobis-middle", *LOGIT_SCORES} <= set(detector.available())
        assert set(detector.held_out.scores) == set(detector.available())
        assert len(detector.calibration.scores) == 60 and detector.held_out.separate
        assert_same(stored(detector, settings()), detector)

    def test_strange_documents_are_rejected(self):
        detector = fit(settings())
        assert detector.judge(outputs(STRANGE)).rejected.mean() > 0.9
        assert detector.judge(outputs(NEW)).rejected.mean() < 0.2

    def test_a_score_of_logits_gathers_no_statistics(self):
        detector = fit(settings("energy"))
        assert detector.basis.statistics is None and set(detector.available()) == LOGIT_SCORES

    def test_without_calibration_documents_validation_calibrates(self):
        detector = fit(settings("energy"), None)
        expected = detector.score.ood_score(outputs(VALIDATION))
        np.testing.assert_array_equal(detector.calibration.scores, expected)
        assert not detector.held_out.separate

    @pytest.mark.parametrize("calibration", [CALIBRATION, None], ids=["calibration", "validation"])
    def test_the_answers_of_held_out_documents_are_kept(self, calibration):
        detector = fit(settings("energy"), calibration)
        held_out, judged = detector.held_out, detector.judge(outputs(calibration or VALIDATION))
        np.testing.assert_array_equal(held_out.labels, (calibration or VALIDATION).labels)
        np.testing.assert_array_equal(held_out.confidence, judged.probabilities.max(axis=1))
        again = stored(detector, settings("energy")).held_out
        np.testing.assert_array_equal(again.labels, held_out.labels)
        np.testing.assert_array_equal(again.confidence, held_out.confidence)
        assert set(again.scores) == set(held_out.scores), "they are no scores"
        fresh = fitter(settings("energy")).recalibrate(detector, replace(NEW, labels=None)).held_out
        assert fresh.labels is None and len(fresh.confidence) == 90

    def test_temperature(self):
        """Logits of 1.5 and -1.5 for documents that are all correct: certainty grows, so T is below 1."""
        assert fit(settings("energy")).temperature < 1.0
        assert fit(settings("energy", calibrate_confidence=False)).temperature == 1.0

    def test_too_few_documents_choose_no_guard(self, caplog):
        with caplog.at_level("INFO", "masker"):
            detector = fitter(settings()).fit(TRAIN, documents(19, 1), CALIBRATION)
        assert list(detector.basis.combination.offsets) == ["max-logit", "knn"]
        assert "score auto: max-logit + knn" in caplog.text

    def test_too_few_documents_for_the_guarantee(self, caplog):
        fitter(settings("energy")).fit(TRAIN, VALIDATION, documents(9, 1))
        assert "9 held-out documents guarantee a false-alarm rate of 0.1 at best, not 0.05" in caplog.text

    def test_too_few_documents_for_the_confidence(self, caplog):
        """Nine promise 1 - 0.05^(1/9) = 0.283 with 95 %."""
        detector = fitter(settings("energy", confidence=0.95)).fit(TRAIN, VALIDATION, documents(9, 1))
        assert "a false-alarm rate of 0.283 at best with 95 % confidence, not 0.05; more would do better" in caplog.text
        assert detector.calibration.confidence == 0.95
        caplog.clear()
        fitter(settings("energy", confidence=0.95, false_alarm_rate=0.3)).fit(TRAIN, VALIDATION, documents(9, 1))
        assert "guarantee" not in caplog.text

    def test_held_out_documents_are_limited(self):
        detector = fit(settings("energy", held_out=25))
        assert len(detector.calibration.scores) == 25


class TestOwnScores:
    @pytest.mark.parametrize("method", ["openmax", "doc", "ocsvm", "linear"])
    def test_a_method_has_its_score_and_no_other(self, method):
        chosen = settings(method=method)
        detector = fit(chosen)
        assert detector.available() == [METHODS.get(method).own_score] == [detector.score.name]
        assert_same(stored(detector, chosen), detector)
        again = fitter(chosen).recalibrate(detector, NEW)
        assert again.available() == detector.available() and len(again.calibration.scores) == 90
        with pytest.raises(ConfigError, match=f"Method {method} has that score only; leave --score out"):
            detector.adjusted(chosen, score="energy")
        adjusted, detection = detector.adjusted(chosen, false_alarm_rate=0.2)
        assert detection.score == "auto", "the score of a method is not a setting"
        assert adjusted.calibration.false_alarm_rate == detection.false_alarm_rate == 0.2

    def test_published_rule(self):
        detector = fit(settings(method="doc", rule="published"))
        assert detector.calibration.threshold == 0.0 and detector.calibration.promised is None

    def test_outputs_that_are_there_are_not_computed_again(self):
        class NoTraining(FakeBackend):
            def predict_outputs(self, encoded, kinds=("cls",), advance=None):
                assert len(encoded) != len(TRAIN)
                return super().predict_outputs(encoded, kinds, advance)

        chosen = settings(method="ocsvm")
        ready = DetectorFitter(NoTraining(), TOKENIZER, None, chosen)
        detector = ready.fit(TRAIN, VALIDATION, CALIBRATION, outputs(TRAIN, ("vectors",)))
        assert_same(detector, fit(chosen))

    def test_refused_elsewhere(self):
        with pytest.raises(ConfigError, match="'openmax' belongs to a training method of its own"):
            fitter(settings("openmax"))
        with pytest.raises(ConfigError, match="'vim' was removed"):
            fitter(settings("vim"))
        with pytest.raises(ConfigError, match="Did you mean 'energy'"):
            fitter(settings("enrgy"))


class TestCrossFitting:
    """Two networks, each asked about documents of its own."""

    @staticmethod
    def observed(chosen):
        return Observed.joined([fitter(chosen).observe(TRAIN, held_out) for held_out in (VALIDATION, CALIBRATION)])

    def test_auto(self):
        detector = fitter(settings()).fit_cross(TRAIN, self.observed(settings()))
        assert detector.score.name == "auto" and len(detector.calibration.scores) == 120 and detector.held_out.separate
        assert {"auto", "knn", "relative-mahalanobis-middle", *LOGIT_SCORES} <= set(detector.available())
        assert set(detector.held_out.scores) == set(detector.available())
        assert set(detector.basis.combination.references) == set(detector.basis.combination.offsets)
        assert detector.judge(outputs(STRANGE)).rejected.mean() > 0.9
        assert detector.judge(outputs(NEW)).rejected.mean() < 0.2
        assert_same(stored(detector, settings()), detector)

    def test_the_scores_of_held_out_documents_are_those_that_were_observed(self):
        chosen = settings("knn", false_alarm_rate=0.2)
        seen = self.observed(chosen)
        detector = fitter(chosen).fit_cross(TRAIN, seen)
        np.testing.assert_array_equal(detector.calibration.scores, seen.scores["knn"])
        assert detector.calibration.threshold == np.sort(seen.scores["knn"])[96], "ceil(121 * 0.8) = 97"
        np.testing.assert_array_equal(detector.held_out.predicted, seen.logits.argmax(axis=1))
        assert {"knn", "mahalanobis", *LOGIT_SCORES} <= set(detector.available())

    def test_it_is_the_fit_of_one_network_that_held_all_of_them_out(self):
        """One fold: chosen and calibrated on the same documents, as without a calibration part."""
        seen = fitter(settings()).observe(TRAIN, VALIDATION)
        cross, plain = fitter(settings()).fit_cross(TRAIN, seen), fit(settings(), None)
        assert cross.basis.combination.offsets == plain.basis.combination.offsets
        assert cross.temperature == plain.temperature and cross.calibration.threshold == plain.calibration.threshold

    def test_a_score_of_a_method(self):
        chosen = settings(method="linear")
        detector = fitter(chosen).fit_cross(TRAIN, self.observed(chosen))
        assert detector.available() == ["highest-logit"] and len(detector.calibration.scores) == 120

    def test_temperature(self):
        assert fitter(settings("energy")).fit_cross(TRAIN, self.observed(settings("energy"))).temperature < 1.0
        chosen = settings("energy", calibrate_confidence=False)
        assert fitter(chosen).fit_cross(TRAIN, self.observed(chosen)).temperature == 1.0


@pytest.mark.usefixtures("plug_in_scores")
class TestPlugIns:
    @pytest.mark.parametrize("name", ["euclidean", "euclidean-middle", "margin"])
    def test_fitted_adjusted_stored_and_rebuilt(self, name):
        chosen = settings(name)
        detector = fit(chosen)
        assert detector.score.name == name and {name, *LOGIT_SCORES} <= set(detector.available())
        assert_same(stored(detector, chosen), detector)
        judged = detector.judge(outputs(STRANGE))
        assert judged.rejected.mean() > 0.5 and judged.scores.dtype == np.float64
        wider, detection = detector.adjusted(chosen, false_alarm_rate=0.2)
        assert wider.score is detector.score and detection.score == name
        assert_same(stored(wider, chosen), wider)

    @pytest.mark.parametrize("name", ["euclidean", "margin"])
    def test_another_score_and_back(self, name):
        """What the score is built from stays with the model while another score is in use, stored or not."""
        chosen = settings(name)
        detector = fit(chosen)
        energy, detection = detector.adjusted(chosen, score="energy")
        other = chosen.model_copy(update={"detection": detection})
        assert energy.score.name == detection.score == "energy" and name in energy.available()
        assert_same(stored(energy, other), energy)
        back, detection = stored(energy, other).adjusted(other, score=name)
        assert detection == chosen.detection
        assert_same(back, detector)

    def test_a_model_offers_every_score_that_its_statistics_allow(self):
        detector = fit(settings())
        assert {"euclidean", "euclidean-middle"} <= set(detector.available()) and "margin" not in detector.available()

    def test_recalibrating_adds_a_learnt_score(self):
        detector, chosen = fit(settings()), settings("margin")
        with pytest.raises(ModelError, match=r"has not learnt score 'margin'.*--statistics"):
            fitter(chosen).recalibrate(detector, NEW)
        fresh = fitter(chosen).recalibrate(detector, NEW, statistics=TRAIN)
        expected = fit(chosen).judge(outputs(STRANGE)).scores
        np.testing.assert_array_equal(fresh.judge(outputs(STRANGE)).scores, expected)
        assert {"margin", "euclidean", "knn-middle"} <= set(fresh.available()), "statistics are gathered again"
        again = fitter(settings("knn")).recalibrate(fresh, NEW)
        assert "margin" in again.available()
        assert_same(stored(again, settings("knn")), again)

    def test_a_plug_in_that_is_gone(self, monkeypatch):
        from masker.registry import SCORES

        detector = fit(settings("margin"))
        monkeypatch.delitem(SCORES._entries, "margin")
        opened = stored(detector, settings("margin"))
        with pytest.raises(ModelError, match="'margin', which is not installed"):
            opened.judge(outputs(NEW))
        assert set(opened.available()) == LOGIT_SCORES
        energy, _ = opened.adjusted(settings("margin"), score="energy")
        assert energy.judge(outputs(NEW)).scores.shape == (90,)


class TestRecalibrate:
    def test_threshold_by_hand(self):
        """Of 90 held-out scores at rate 0.2 the ceil(91 * 0.8) = 73rd is the threshold."""
        chosen = settings(false_alarm_rate=0.2)
        detector = fitter(chosen).recalibrate(fit(settings()), NEW)
        scores = detector.score.ood_score(outputs(NEW))
        assert detector.calibration.threshold == np.sort(scores)[72] and detector.held_out.separate

    def test_without_labels_the_temperature_stays(self):
        detector = fit(settings("energy"))
        recalibrate = fitter(settings("energy")).recalibrate
        assert recalibrate(detector, replace(NEW, labels=None)).temperature == detector.temperature
        assert recalibrate(detector, NEW).temperature != detector.temperature
        assert recalibrate(detector, documents(19, 5)).temperature == detector.temperature, "too few"

    def test_auto_is_kept_or_chosen_again(self):
        detector = fit(settings())
        assert fitter(settings()).recalibrate(detector, NEW).basis.combination is detector.basis.combination
        chosen = fitter(settings()).recalibrate(detector, NEW, documents(60, 8)).basis.combination
        assert len(next(iter(chosen.references.values()))) == 60
        with pytest.raises(ModelError, match=r"no statistics for score 'auto'.*--statistics TRAINING_DATA"):
            fitter(settings()).recalibrate(fit(settings("energy")), NEW, documents(60, 8))

    def test_statistics_bring_another_score(self, caplog):
        detector = fit(settings("knn"))
        with pytest.raises(ModelError, match="no statistics for score 'knn-middle'"):
            fitter(settings("knn-middle")).recalibrate(detector, NEW)
        fresh = fitter(settings("knn-middle")).recalibrate(detector, NEW, statistics=TRAIN)
        assert fresh.score.features == ("middle",) and {"knn", "mahalanobis-middle"} <= set(fresh.available())
        fresh = fitter(settings("knn")).recalibrate(fit(settings()), NEW, statistics=TRAIN)
        assert "auto" not in fresh.available() and "score 'auto' was chosen with the old statistics" in caplog.text

    def test_a_model_whose_score_was_removed_gets_auto(self):
        """As stored by an earlier version: score ``knn-mean``, statistics of features that no score reads any more."""
        detector = fit(settings("knn"))
        arrays = {name.replace("known.cls", "known.mean"): array for name, array in detector.to_arrays().items()}
        arrays["held_out.knn-mean"] = arrays.pop("held_out.knn")
        manifest = {"score": "knn-mean", "detection": {**detector.to_manifest(), "features": ["mean"]}}
        old = Detector.from_stored(manifest, arrays, settings())
        with pytest.raises(ModelError, match="score 'knn-mean', which was removed from masker"):
            old.judge(outputs(NEW))
        fresh = fitter(settings()).recalibrate(old, NEW, documents(60, 8), TRAIN)
        assert fresh.score.name == "auto" and set(fresh.basis.statistics.moments) == {"cls", "middle"}
        assert fresh.judge(outputs(STRANGE)).rejected.mean() > 0.9


class TestNothingHeldOut:
    EMPTY = VALIDATION.take_documents(np.zeros(VALIDATION.n_documents, dtype=bool))

    @pytest.mark.parametrize("score", ["max-prob", "knn"])
    def test_it_scores_and_rejects_nothing(self, score):
        chosen = settings(score)
        detector = fitter(chosen).fit(TRAIN, self.EMPTY, None)
        judged = detector.judge(outputs(STRANGE))
        assert not judged.rejected.any() and np.isfinite(judged.scores).all() and (judged.p_values == 1.0).all()
        assert detector.temperature == 1.0 and detector.to_manifest()["thresholds"] == [None] * 3
        assert_same(stored(detector, chosen), detector)

    def test_another_score_is_to_be_had_a_rate_is_not(self):
        chosen = settings("max-prob")
        detector = fitter(chosen).fit(TRAIN, self.EMPTY, None)
        changed, _ = detector.adjusted(chosen, score="energy")
        assert changed.score.name == "energy" and not changed.judge(outputs(STRANGE)).rejected.any()
        with pytest.raises(ConfigError, match="without held-out documents, so no rate can be promised; set one with"):
            detector.adjusted(chosen, false_alarm_rate=0.1)

    def test_new_documents_set_a_threshold(self):
        chosen = settings("knn")
        detector = fitter(chosen).fit(TRAIN, self.EMPTY, None)
        calibrated = fitter(chosen).recalibrate(detector, NEW)
        assert calibrated.calibration.promised == 0.05 and calibrated.judge(outputs(STRANGE)).rejected.mean() > 0.5
