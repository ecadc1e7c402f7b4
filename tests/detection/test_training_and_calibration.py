"""Cross-fitting from end to end: who judges whom, what the model is, and that the promise holds."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from masker import Documents, Model
from masker.config import build_settings
from masker.detection.auto import Observed
from masker.detection.fitting import DetectorFitter
from masker.detection.training_and_calibration import cross_fit, train_and_calibrate
from masker.documents.encoding import Encoded
from masker.documents.folds import stratified_folds
from masker.inference.torch_backend import TorchBackend
from masker.modeling.heads import set_output_layer
from masker.registry import METHODS
from masker.training.decisions import decisions_of
from masker.training.run import TrainingRun
from masker.training.run_probes import RunProbes
from masker.training.trainer import MaskerTrainer
from masker.training.training_data import TrainingData
from tests.conftest import count_steps
from tests.detection.conftest import CLASSES, LABELS, SCORE, TEXTS


def weights(backend: TorchBackend) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in backend.classifier.state_dict().items()}


# --- folds -----------------------------------------------------------------------------------------------------------


def test_one_held_out_score_for_each_document(start):
    run = start()
    backend, detector = train_and_calibrate(run, TrainingRun.fit_probe_only)
    assert len(detector.calibration.scores) == 30 and detector.held_out.separate
    assert isinstance(backend, TorchBackend) and list(run.validation) == ["accuracy"]


def test_a_document_whose_class_has_no_other_is_left_out(start):
    """Its fold's network has never seen the class: no score of it says how documents of known classes look."""
    texts, labels = [*TEXTS, "shuttle garlic", "coach"], [*LABELS, "one", "another"]
    run = start(texts, labels, ["another", *CLASSES, "one"])
    _, detector = train_and_calibrate(run, TrainingRun.fit_probe_only)
    assert len(detector.calibration.scores) == 30


def test_each_document_is_judged_by_the_network_that_has_not_seen_it(start):
    """The scores are those of each fold's network on its fold, in the order of folds."""
    run, networks = start(), []

    def train(part):
        networks.append((part.fit_probe_only(), part.data.validation))
        return TorchBackend(part.initial_classifier(), part.tokenizer, "cpu")

    _, detector = train_and_calibrate(run, train)
    logits = [backend.predict_logits(fold) for backend, fold in networks]
    expected = np.concatenate([1.0 - torch.from_numpy(part).softmax(dim=1).amax(dim=1).numpy() for part in logits])
    np.testing.assert_allclose(detector.calibration.scores, expected, atol=1e-5)
    pairs = zip(logits, networks, strict=True)
    right = np.concatenate([part.argmax(axis=1) == fold.labels for part, (_, fold) in pairs])
    assert run.validation == {"accuracy": right.mean()}


def test_the_model_is_the_mean_of_the_networks(start):
    parts = []

    def train(part):
        backend = part.fit_probe_only()
        parts.append(weights(backend))
        return backend

    backend, _ = train_and_calibrate(start(), train)
    assert len(parts) == 5
    for name, tensor in weights(backend).items():
        if tensor.dtype.is_floating_point:
            torch.testing.assert_close(tensor, torch.stack([part[name] for part in parts]).mean(dim=0))


def worse(part: TrainingRun) -> TorchBackend:
    """The probe turned around: it answers the least likely class."""
    backend = part.fit_probe_only()
    layer = backend.classifier.classifier
    set_output_layer(backend.classifier, -layer.weight.detach().numpy(), -layer.bias.detach().numpy())
    return backend


def test_a_probe_that_is_better_than_the_trained_networks_is_kept(start, tmp_path):
    run = start()
    backend, detector = train_and_calibrate(run, worse)
    assert run.kept_probe and decisions_of(run)["kept"].startswith("the logistic regression: ")
    plain = start()
    expected, calibrated = train_and_calibrate(plain, TrainingRun.fit_probe_only)
    assert not plain.kept_probe and "kept" not in decisions_of(plain)
    assert run.validation == plain.validation
    for name, tensor in weights(expected).items():
        torch.testing.assert_close(weights(backend)[name], tensor)
    assert detector.calibration.threshold == calibrated.calibration.threshold


def test_documents_set_aside(start):
    run = start(detection={"calibration": "split", **SCORE})
    _, detector = train_and_calibrate(run, TrainingRun.fit_probe_only)
    assert len(detector.calibration.scores) == 3 and not detector.held_out.separate


def test_a_regression_has_no_detector(start):
    run = start(TEXTS, [float(n) for n in range(30)], [], model={"head": "regression"}, detection={})
    backend, detector = train_and_calibrate(run, METHODS.get("vanilla").train)
    assert detector is None and backend.n_outputs == 1


# --- interrupted -----------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """Stands for a signal."""


def test_an_interrupted_run_ends_as_if_nothing_had_happened(tiny_settings, tmp_path, monkeypatch):
    """Killed in the middle of the third fold: two folds are read back, the third goes on from its checkpoint."""
    documents, settings = Documents(TEXTS, None, LABELS, "made up"), tiny_settings(training={"epochs": 2})
    whole = Model.fit(documents, settings, tmp_path / "whole", device="cpu")
    save = MaskerTrainer._save_checkpoint

    def killed(trainer, *args):
        save(trainer, *args)
        if "fold-3" in trainer.args.output_dir:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(MaskerTrainer, "_save_checkpoint", killed)
        with pytest.raises(Killed):
            Model.fit(documents, settings, tmp_path / "cut", device="cpu")
    steps = count_steps(monkeypatch)
    resumed = Model.fit(documents, settings, tmp_path / "cut", device="cpu")
    assert {fold: steps.count(fold) for fold in sorted(set(steps))} == {"fold-3": 3, "fold-4": 6, "fold-5": 6}
    for name, tensor in weights(whole.backend).items():
        assert torch.equal(tensor, weights(resumed.backend)[name]), name
    for name, tensor in whole.backend.own_tensors.items():
        assert torch.equal(tensor, resumed.backend.own_tensors[name]), name
    assert resumed.keywords == whole.keywords and resumed.validation == whole.validation
    assert resumed.detector.to_manifest() == whole.detector.to_manifest()
    for name, array in whole.detector.to_arrays().items():
        np.testing.assert_array_equal(resumed.detector.to_arrays()[name], array)


# --- the promise -----------------------------------------------------------------------------------------------------

SEEDS, TRAIN, TEST, WIDTH = 40, 60, 500, 12


def gaussian(count, draw):
    """Three overlapping classes, vectors of about length 1."""
    labels = np.arange(count) % 3
    return 0.6 * np.eye(WIDTH)[labels] + 0.2 * draw.normal(size=(count, WIDTH)), labels


def numbered(first, labels) -> Encoded:
    """Documents of one token, their number."""
    count = len(labels)
    return Encoded([np.array([first + n]) for n in range(count)], None, labels, np.arange(count))


def gaussian_run(seed, work) -> tuple[TrainingRun, Encoded]:
    """A run of method linear whose encoder looks vectors up, and new documents of the same classes."""
    draw = np.random.default_rng(seed)
    (known, labels), (new, new_labels) = gaussian(TRAIN, draw), gaussian(TEST, draw)
    table = np.concatenate([known, new])
    train, settings = numbered(0, labels), build_settings({"training": {"method": "linear", "seed": seed}})
    run = object.__new__(TrainingRun)
    run.settings, run.classes, run.work, run.tokenizer = settings, CLASSES, work, None
    run.data = TrainingData(train, train.take_documents(np.zeros(TRAIN, dtype=bool)), None,
                            stratified_folds(labels.tolist(), 5, seed))  # fmt: skip
    run.keywords = run.probe_logits = run._parent = None
    run.probes = RunProbes(settings, len(CLASSES), train)
    run.probes.once("encoder vectorizer", lambda: lambda rows, advance=None: table[np.concatenate(rows.input_ids)])
    return run, numbered(TRAIN, new_labels)


def test_the_false_alarm_rate_is_kept_on_average(tmp_path):
    """Promised are 5 %: 60 held-out scores allow the 58th of 61 ranks, which is 4.9 %.

    Had each network judged the documents that it was trained on, the rate would be well above.
    """
    rates, naive = [], []
    for seed in range(SEEDS):
        run, new = gaussian_run(seed, tmp_path)
        backend, detector = cross_fit(run, METHODS.get("linear").train)
        assert len(detector.calibration.scores) == TRAIN
        rates.append(detector.judge(backend.predict_outputs(new)).rejected.mean())
        fitter = DetectorFitter(backend, None, None, run.settings)
        seen = fitter.fit_cross(run.data.train, Observed.joined([fitter.observe(run.data.train, run.data.train)]))
        naive.append(seen.judge(backend.predict_outputs(new)).rejected.mean())
    assert 0.03 < np.mean(rates) < 0.065
    assert np.mean(naive) > 0.065
