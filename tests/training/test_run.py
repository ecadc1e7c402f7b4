"""A training run: what each stage is given, what it leaves for the next run, and where all of it runs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from masker import ConfigError, Documents
from masker.inference.torch_backend import TorchBackend, head_inputs
from masker.inference.windows import document_labels
from masker.modeling.heads import set_output_layer
from masker.modeling.network import MaskerNetwork
from masker.registry import METHODS
from masker.training import keyword_stage, run_probes
from masker.training import run as module
from masker.training.probe import fit_probe
from masker.training.run import TrainingRun
from masker.training.schedule import Schedule
from masker.training.trainer import MaskerTrainer
from tests.conftest import make_corpus
from tests.fake_device import DEVICE, NAME, fake_device

CLASSES = ["food", "space", "sport"]
SPLIT = {"detection": {"calibration": "split"}}


def test_masker_trains_vanilla_then_itself(start, stages, tmp_path):
    run = start(training={"epochs": 5, "averaged_share": 0.25, "head_start": "new"})
    backend = METHODS.get("masker").train(run)
    (first, _, folder, _), (last, _, last_folder, _) = stages
    assert (first.name, first.schedule, first.keywords) == ("vanilla", Schedule(epochs=5), None)
    assert first.averaged_share == 0.0
    assert (last.name, last.schedule, last.averaged_share) == ("masker", Schedule(epochs=5), 0.25)
    assert last.keywords is run.keywords and run.keywords.source == "attention"
    assert (folder, last_folder) == (tmp_path / "work" / "vanilla", tmp_path / "work" / "masker")
    assert run.validation == {"accuracy": 0.2}, "of the last stage"
    assert set(backend.weights().tensors) == {"token_head.weight", "token_head.bias"}


def test_from_a_probe_the_vanilla_stage_is_short_and_averaged_too(start, stages):
    run = start(training={"averaged_share": 0.25}, **SPLIT)
    METHODS.get("masker").train(run)
    (first, *_), (last, *_) = stages
    assert (first.name, first.schedule, first.averaged_share) == ("vanilla", Schedule(steps=16), 0.25)
    assert (last.name, last.schedule, last.averaged_share) == ("masker", Schedule(epochs=1), 0.25)


def test_openmax_and_doc_average_their_weights_when_told_to(start, stages):
    """Whatever the stage is called, the final network of every method is the averaged one."""
    for method in ("openmax", "doc", "vanilla"):
        METHODS.get(method).train(start(method, training={"averaged_share": 0.5}, baselines={"doc_filters": 8}))
    assert [(stage.name, stage.averaged_share) for stage, *_ in stages] == [
        ("openmax", 0.5), ("doc", 0.5), ("vanilla", 0.5)
    ]  # fmt: skip


def test_keywords_are_chosen_once(start, stages, tmp_path):
    found = start().find_keywords()
    assert len(stages) == 1
    assert start().find_keywords() == found and len(stages) == 1, "read back from the work folder"
    (tmp_path / "work" / "keywords.json").unlink()
    start().find_keywords()
    assert len(stages) == 2


def test_an_attention_model_saves_the_vanilla_stage(start, stages, monkeypatch):
    opened = []

    def load(folder, device):
        opened.append((folder, device))
        return start("vanilla").classifier_with_new_head()

    monkeypatch.setattr(module, "load_attention_model", load)
    run = start(keywords={"attention_model": "elsewhere"})
    run.find_keywords()
    assert stages == [] and opened == [("elsewhere", run.device)]


def test_attention_is_regularized_in_the_last_stage_only(start, stages):
    run = start(loss={"lambda_attention": 0.1}, **SPLIT)
    METHODS.get("masker").train(run)
    assert [(stage.name, stage.attention_term) for stage, *_ in stages] == [("vanilla", False), ("masker", True)]


def test_every_stage_starts_from_the_same_weights(start):
    run = start()
    first = run.classifier_with_new_head().state_dict()
    torch.rand(5)
    for name, tensor in run.classifier_with_new_head().state_dict().items():
        assert torch.equal(tensor, first[name]), name


# --- heads that start from a probe -----------------------------------------------------------------------------------


@pytest.mark.parametrize("head", ["multi-class", "one-vs-rest"])
@pytest.mark.parametrize("pooling", ["mean", "document-token"])
def test_before_training_the_network_is_the_probe(start, head, pooling):
    run = start("vanilla", model={"head": head, "pooling": pooling}, **SPLIT)
    vectors = head_inputs(run.classifier_with_new_head(), run.tokenizer, run.data.train)
    length = np.linalg.norm(vectors, axis=1).mean()
    probe = fit_probe(vectors / length, run.data.train.labels, 3, head=head)
    backend = run.fit_probe_only()
    np.testing.assert_allclose(backend.predict_logits(run.data.train), probe(vectors / length), atol=1e-3)
    np.testing.assert_allclose(run.probe_logits, backend.predict_logits(run.data.validation), atol=1e-5)
    right = run.probe_logits.argmax(axis=1) == run.data.validation.labels
    assert run.validation == {"accuracy": right.mean()}


def test_a_regression_starts_from_a_ridge(tiny_settings, tmp_path):
    texts, _ = make_corpus(42)
    settings = tiny_settings(model={"head": "regression"}, training={"method": "vanilla"})
    numbers = [float(text.count("moon") + text.count("soup")) for text in texts]
    run = TrainingRun(Documents(texts, None, numbers, "scores"), [], settings, tmp_path / "work", "cpu")
    vectors = head_inputs(run.classifier_with_new_head(), run.tokenizer, run.data.train)
    length = np.linalg.norm(vectors, axis=1).mean()
    probe = fit_probe(vectors / length, run.data.train.labels, 0, head="regression")
    logits = TorchBackend(run.initial_classifier(), run.tokenizer, "cpu").predict_logits(run.data.train)
    np.testing.assert_allclose(logits, probe(vectors / length), atol=1e-3)
    assert run.probe_logits is None


def test_a_class_of_one_document_is_started_too(tiny_settings, tmp_path):
    """Whatever is held out: without its document the class is never the answer, with it the class can be."""
    texts, labels = make_corpus(20)
    documents = Documents([*texts, "shuttle garlic"], None, [*labels, "other"], "made up")
    settings = tiny_settings(training={"method": "vanilla"})
    run = TrainingRun(documents, [*CLASSES, "other"], settings, tmp_path / "work", "cpu")
    for part in run.folds():
        known = (part.data.train.labels == 3).any()
        weight = part.initial_classifier().classifier
        assert weight.weight[3].any() == known
        assert (weight.bias[3] == -10.0) == (not known)


def test_a_new_head_is_random(start):
    run = start("vanilla", training={"head_start": "new"})
    fresh, started = run.classifier_with_new_head().state_dict(), run.initial_classifier().state_dict()
    assert all(torch.equal(tensor, fresh[name]) for name, tensor in started.items())
    assert run.probe_logits is None
    probed = start("vanilla", **SPLIT).initial_classifier().state_dict()
    assert not torch.equal(probed["classifier.weight"], fresh["classifier.weight"])


@pytest.mark.parametrize("worse", [True, False])
def test_the_probe_is_kept_if_training_makes_it_worse(start, monkeypatch, caplog, worse):
    keeps = TrainingRun.keep_probe_if_better

    def train(stage, classifier, tokenizer, data, settings, folder, device):
        weight, bias = (part.detach().numpy() for part in (classifier.classifier.weight, classifier.classifier.bias))
        sign = -1.0 if worse else 2.0
        set_output_layer(classifier, sign * weight, sign * bias)
        return MaskerNetwork(classifier).eval(), {"accuracy": 0.5}

    monkeypatch.setattr(module, "train_stage", train)
    run = start("vanilla", **SPLIT)
    right = np.eye(3)[document_labels(run.data.validation)]  # a start that is always right
    monkeypatch.setattr(TrainingRun, "keep_probe_if_better", lambda self, labels, trained, start: keeps(
        self, labels, right if not worse else trained, right if worse else start))  # fmt: skip
    with caplog.at_level("INFO", "masker"):
        backend = run.fit_network()
    assert run.kept_probe is worse and ("keeping the probe" in caplog.text) is worse
    logits = backend.predict_logits(run.data.validation)
    if worse:
        np.testing.assert_allclose(logits, run.probe_logits, atol=1e-5)
        assert run.validation["accuracy"] > 0.0
    else:
        np.testing.assert_allclose(logits, 2.0 * run.probe_logits, atol=1e-4)


# --- folds -----------------------------------------------------------------------------------------------------------


def decoded(run, part):
    return [run.tokenizer.decode(ids, skip_special_tokens=True) for ids in part.input_ids]


def test_every_document_is_validation_once(start, documents, tmp_path):
    run = start("vanilla")
    held_out = []
    for number, part in enumerate(run.folds(), 1):
        assert sorted(decoded(run, part.data.train) + decoded(run, part.data.validation)) == sorted(documents.texts)
        assert part.work == tmp_path / "work" / f"fold-{number}" and part.work.is_dir()
        held_out += decoded(run, part.data.validation)
    assert number == 5 and sorted(held_out) == sorted(documents.texts)


def test_folds_share_keywords_and_the_stage_that_finds_them(start, stages):
    run = start()
    found = [part.find_keywords() for part in run.folds()]
    assert all(keywords is found[0] is run.keywords for keywords in found)
    ((stage, data, folder, _),) = stages
    assert stage.name == "vanilla" and folder == run.work / "vanilla"
    assert len(data.train) == 42, "all documents"


def test_folds_share_vectors_and_start_from_probes_of_their_own(start, monkeypatch):
    calls = []

    def record(classifier, tokenizer, encoded, device):
        calls.append(len(encoded))
        return head_inputs(classifier, tokenizer, encoded, device)

    run = start("vanilla")
    monkeypatch.setattr(module, "head_inputs", record)
    for part in run.folds():
        classifier = part.initial_classifier()
        vectors = head_inputs(classifier, run.tokenizer, part.data.train)
        length = np.linalg.norm(vectors, axis=1).mean()
        probe = fit_probe(vectors / length, part.data.train.labels, 3)
        np.testing.assert_allclose(classifier.classifier.weight.detach() * length, probe.weight, atol=1e-2)
        assert part.probe_logits.shape == (len(part.data.validation), 3)
    assert calls == [42] and run.probe_logits is None


def test_folds_of_more_rows_than_are_probed(start, monkeypatch):
    monkeypatch.setattr(run_probes, "PROBED_ROWS", 20)
    run = start("vanilla")
    for part in run.folds():
        backend = part.fit_probe_only()
        assert part.probes.left_out_vectors() is None
        np.testing.assert_allclose(part.probe_logits, backend.predict_logits(part.data.validation), atol=1e-5)


def test_a_fold_does_not_decide_alone_to_keep_the_probe(start, monkeypatch):
    def train(stage, classifier, *args):
        return MaskerNetwork(classifier).eval(), {"accuracy": -1.0}

    monkeypatch.setattr(module, "train_stage", train)
    part = next(start("vanilla").folds())
    part.fit_network()
    assert not part.kept_probe and part.probe_logits is not None


def test_a_work_folder_that_other_machines_do_not_see(tmp_path):
    with pytest.raises(ConfigError, match="all machines of a run need the same storage under the same path"):
        module._check_shared(tmp_path / "not shared")


# --- devices ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def placed(monkeypatch):
    """The devices that trainers, backends and readers of attention were given, by who took them."""
    taken: dict[str, list[torch.device]] = {}
    train, predict, visit = MaskerTrainer.__init__, TorchBackend.__init__, keyword_stage.attention_scores_of

    def trainer(self, *args):
        taken.setdefault("train " + args[2].name, []).append(args[-1])
        train(self, *args)

    def backend(self, *args, **options):
        predict(self, *args, **options)
        taken.setdefault("backend", []).append(self.device)

    def attention(classifier, *args, **options):
        taken.setdefault("attention", []).append(classifier.device)
        return visit(classifier, *args, **options)

    monkeypatch.setattr(MaskerTrainer, "__init__", trainer)
    monkeypatch.setattr(TorchBackend, "__init__", backend)
    monkeypatch.setattr(keyword_stage, "attention_scores_of", attention)
    return taken


def test_every_stage_runs_on_the_device_of_the_run(start, placed, monkeypatch):
    asked = fake_device(monkeypatch)
    run = start("residual", device=NAME)
    METHODS.get("residual").train(run)
    assert run.device == DEVICE
    assert {name: set(devices) for name, devices in placed.items()} == {
        "train vanilla": {DEVICE}, "train biased": {DEVICE}, "train residual": {DEVICE}, "backend": {DEVICE},
        "attention": {torch.device("cpu")},  # which is where cpu:0 is
    }  # fmt: skip
    assert len(placed["backend"]) == 2, "for the outputs of the biased model, and for the result"
    assert set(asked) == {NAME, str(DEVICE)}, "nobody fell back to auto"


def test_the_convolution_does_too(start, placed, monkeypatch):
    asked = fake_device(monkeypatch)
    METHODS.get("doc").train(start("doc", device=NAME, baselines={"doc_filters": 4}))
    assert placed == {"train doc": [DEVICE], "backend": [DEVICE]}
    assert set(asked) == {NAME, str(DEVICE)}


def test_an_attention_model_is_read_on_the_device(start, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "load_attention_model", lambda folder, device: asked.append((folder, device)))
    fake_device(monkeypatch)
    run = start(device=NAME, keywords={"attention_model": "somewhere"})
    run._attention_classifier()
    assert asked == [("somewhere", DEVICE)]


def test_an_unknown_device_is_refused_before_the_backbone_is_read(start, monkeypatch):
    monkeypatch.setattr(module, "load_backbone", lambda *args: pytest.fail("opened"))
    with pytest.raises(ConfigError, match="device must be auto, cpu, cuda, cuda:N or mps; got 'gpu'"):
        start(device="gpu")
