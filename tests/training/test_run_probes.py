"""What a probe explains of left-out documents, and what a run does if that is little."""

from __future__ import annotations

import numpy as np
import pytest

from masker import Documents
from masker.config import build_settings
from masker.documents.encoding import Encoded
from masker.modeling.network import MaskerNetwork
from masker.training import run_probes as module
from masker.training.decisions import decisions_of
from masker.training.probe import STRENGTH, fit_probe
from masker.training.run import TrainingRun
from masker.training.run_probes import RunProbes
from masker.training.schedule import NEW_KEYWORD_STEPS, NEW_STEPS
from tests.conftest import make_corpus

CLASSES = ["food", "space", "sport"]


def probes_of(vectors, labels, n_classes, **settings):
    count = len(vectors)
    documents = Encoded([np.array([row]) for row in range(count)], None, labels, np.arange(count))
    probes = RunProbes(build_settings(settings), n_classes, documents)
    probes.fit_head(lambda rows: vectors[np.concatenate(rows.input_ids)])
    return probes


@pytest.mark.parametrize("noise", [0.0, 0.6])
def test_information_of_two_classes(noise):
    """Classes at (1, 0) and (0, 1), some labels exchanged: what is left of one bit is 1 - H(share exchanged)."""
    draw = np.random.default_rng(0)
    labels = np.tile([0, 1], 300)
    vectors = np.eye(2)[labels] + draw.normal(scale=1e-3, size=(600, 2))
    exchanged = draw.random(600) < noise / 2
    told = np.where(exchanged, 1 - labels, labels)
    share = exchanged.mean()
    entropy = 0.0 if share == 0 else -(share * np.log(share) + (1 - share) * np.log(1 - share))
    # A regularized regression is never quite sure.
    assert probes_of(vectors, told, 2).information() == pytest.approx(1 - entropy / np.log(2), abs=0.05)


def test_information_is_sought_with_less_regularization_if_the_usual_one_hides_it():
    """200 classes of 2 with vectors of their own: at the usual strength the logits stay small."""
    labels = np.repeat(np.arange(200), 2)
    vectors = np.eye(200)[labels]
    assert probes_of(vectors, labels, 200).information() > module.LEAST_INFORMATION


def test_the_most_that_a_probe_can_explain_is_looked_for_when_asked():
    """Two classes apart: the usual strength explains enough, and less regularization more."""
    labels = np.tile([0, 1], 60)
    probes = probes_of(np.eye(2)[labels], labels, 2)
    assert module.LEAST_INFORMATION < probes.information() < probes.information(enough=1.0)


@pytest.mark.parametrize(("count", "strength"), [(57, 10.0), (60, 1.0)])
def test_labels_with_many_mistakes_are_not_learned_by_heart(count, strength):
    """Labels that vectors say nothing about, 20 of each of three classes or fewer."""
    draw = np.random.default_rng(0)
    vectors, labels = draw.normal(size=(count, 40)), np.arange(count) % 3
    length = np.linalg.norm(vectors, axis=1).mean()
    expected = fit_probe(vectors / length, labels, 3, strength=strength)
    started = probes_of(vectors, labels, 3).fit_head(None)  # the vectors are known by now
    np.testing.assert_allclose(started.weight, expected.weight / length)


def test_information_about_several_labels():
    draw = np.random.default_rng(0)
    flags = (draw.random((400, 3)) < 0.4).astype(np.int8)
    known = probes_of(flags + draw.normal(scale=0.01, size=(400, 3)), flags, 3, model={"head": "multi-label"})
    unknown = probes_of(draw.normal(size=(400, 3)), flags, 3, model={"head": "multi-label"})
    assert known.information() > 0.8 and unknown.information() < 0.05


@pytest.mark.parametrize(("count", "little"), [(297, False), (300, True)])
def test_of_few_documents_no_share_is_known(count, little):
    draw = np.random.default_rng(0)
    assert probes_of(draw.normal(size=(count, 4)), np.arange(count) % 3, 3).is_weak is little


def test_a_regression_always_starts_from_the_probe():
    draw = np.random.default_rng(0)
    values = draw.normal(size=300).astype(np.float32)
    assert probes_of(draw.normal(size=(300, 4)), values, 0, model={"head": "regression"}).is_weak is False


@pytest.fixture
def start(tiny_settings, tmp_path, monkeypatch):
    """``start(information)``: a run whose probe explains that much."""

    def make(information, method="vanilla", folds=True):
        monkeypatch.setattr(module, "LEAST_DOCUMENTS", 10)
        monkeypatch.setattr(RunProbes, "_search", lambda self, enough: (information, STRENGTH))
        texts, labels = make_corpus(42)
        calibration = {"calibration": "cross-fit" if folds else "split"}
        settings = tiny_settings("bert", training={"method": method}, detection=calibration)
        training = settings.training.model_copy(update={"epochs": None})
        settings = settings.model_copy(update={"training": training})
        return TrainingRun(Documents(texts, None, labels, "made up"), CLASSES, settings, tmp_path / "work", "cpu")

    return make


@pytest.mark.parametrize("folds", [True, False])
def test_a_poor_probe_is_no_start_but_still_to_be_beaten(start, folds):
    run = start(0.59, folds=folds)
    assert run.has_new_head is None and "or a new one, trained longer" in decisions_of(run)["training"]
    part = next(run.folds()) if folds else run
    fresh, started = part.classifier_with_new_head(), part.initial_classifier()
    assert part.has_new_head and run.has_new_head
    assert (started.classifier.weight == fresh.classifier.weight).all()
    assert part.schedule.steps == NEW_STEPS
    assert (part.fit_probe_only().classifier.classifier.weight != fresh.classifier.weight).any()
    assert part.probe_logits is not None, "what training is compared with"
    text = decisions_of(run)["training"]
    assert text.startswith("new head (a logistic regression explains 59 % of held-out labels") and "layers" not in text


def test_a_good_probe_is_the_start(start):
    run = start(0.61)
    part = next(run.folds())
    assert (part.initial_classifier().classifier.weight != part.classifier_with_new_head().classifier.weight).any()
    assert run.has_new_head is False and part.schedule.steps < NEW_STEPS
    assert decisions_of(run)["training"].startswith("head from a logistic regression; ")


def test_keywords_of_a_new_head_take_longer(start, monkeypatch):
    stages = []

    def train(stage, classifier):
        stages.append(stage)
        return MaskerNetwork(classifier)

    run = start(0.1, "masker")
    monkeypatch.setattr(run, "train_classifier", train)
    run.find_keywords()
    assert stages[0].schedule.steps == NEW_KEYWORD_STEPS and stages[0].new_head
