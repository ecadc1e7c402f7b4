"""Opening a model for an audit, and matching labels to its outputs."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from masker.audit import audit, audit_model, audited_model
from masker.audit.audited_model import as_audited, label_indices, open_audited_model, output_names
from masker.audit.words import Vocabulary, read_words
from masker.config import AuditSettings
from masker.documents import Documents
from masker.errors import ConfigError, DataError, ModelError
from masker.inference.torch_backend import TorchBackend
from masker.modeling.model_folder import MANIFEST, TENSORS
from tests.audit.conftest import CLASSES, WEIGHTS

NAMES = ["NEGATIVE", "POSITIVE"]


def labelled(*labels):
    return Documents(["text"] * len(labels), None, list(labels), "data")


@pytest.mark.parametrize(
    ("labels", "names", "indices"),
    [
        (("POSITIVE", "NEGATIVE"), NAMES, [1, 0]),
        (("positive", "Negative"), NAMES, [1, 0]),
        (("1", "0"), NAMES, [1, 0]),
        (("0", "2"), ["LABEL_0", "LABEL_1", "LABEL_2"], [0, 2]),
        (("1", "0"), ["1", "0"], [0, 1]),  # names come before indices
        (("a", "A"), ["A", "a"], [1, 0]),  # names that differ only in case need an exact match
    ],
)
def test_labels_stand_for_outputs(labels, names, indices):
    assert label_indices(labelled(*labels), names).tolist() == indices


@pytest.mark.parametrize(("labels", "shown"), [(("neg", "pos"), "'neg', 'pos'"), (("0", "2"), "'0', '2'")])
def test_unknown_labels_are_named(labels, shown):
    with pytest.raises(DataError) as error:
        label_indices(labelled(*labels), NAMES)
    message = str(error.value)
    assert shown in message and "'NEGATIVE', 'POSITIVE'" in message and "--labels" in message and "\n" not in message


def test_a_stray_number_is_no_index():
    with pytest.raises(DataError, match="label '0' is not among the model's outputs"):
        label_indices(labelled("1", "2", "0"), ["1", "2", "3"])


def test_one_unknown_label_among_known_ones():
    with pytest.raises(DataError, match="label 'neutral' is not among the model's outputs"):
        label_indices(labelled("positive", "neutral"), NAMES)


def test_documents_without_labels():
    with pytest.raises(DataError, match="has no labels"):
        label_indices(Documents(["a"], None, None, "data"), NAMES)


def test_names_of_outputs():
    config = SimpleNamespace(num_labels=2, id2label={0: "neg", 1: "pos"})
    assert output_names(config) == ["neg", "pos"]
    assert output_names(config, ["a", "b"]) == ["a", "b"]
    for wrong in (["a"], ["a", "b", "c"], ["a", "a"]):
        with pytest.raises(DataError, match="--labels must give the model's 2 outputs"):
            output_names(config, wrong)


def test_a_tokenizer_must_be_able_to_pad(bag_of_words, topic_documents):
    classifier, tokenizer = bag_of_words({})
    tokenizer.pad_token = None
    with pytest.raises(ModelError, match="padding token"):
        audit(classifier, tokenizer, topic_documents)


@pytest.mark.parametrize(("kind", "head"), [(None, "multi-class"), ("multi_label_classification", "one-vs-rest")])
def test_probabilities_are_those_of_the_pipeline(bag_of_words, kind, head):
    """One rocket at weight 1: softmax (e, 1, 1) / (e + 2), or three sigmoids."""
    model = as_audited(*bag_of_words({"rocket": {"space": 1.0}}, problem_type=kind))
    encoded = read_words(model.tokenizer, Documents(["the rocket"], None, None, "d"), 8, Vocabulary()).encoded
    expected = {
        "multi-class": [1 / (np.e + 2), np.e / (np.e + 2), 1 / (np.e + 2)],
        "one-vs-rest": [0.5, 1 / (1 + np.exp(-1)), 0.5],
    }
    assert model.head == head and model.classes == CLASSES
    assert model.probabilities(encoded)[0] == pytest.approx(expected[head])


def test_outputs_that_are_not_numbers(bag_of_words, topic_documents):
    classifier, tokenizer = bag_of_words(WEIGHTS)
    with torch.no_grad():
        classifier.weights[:] = torch.nan
    with pytest.raises(ModelError, match="NaN or infinite"):
        audit(classifier, tokenizer, topic_documents)


def test_only_encoders_have_a_document_token(bag_of_words):
    model = as_audited(*bag_of_words({}))
    assert model.has_document_token
    model.tokenizer.mask_token = None
    assert not model.has_document_token


def test_what_a_model_is_opened_with(tiny_classifiers):
    source = str(tiny_classifiers["bert"])
    plain = open_audited_model(source)
    assert (plain.name, plain.classes, plain.max_length) == ("bert", CLASSES, 64)
    assert plain.pairs is None and plain.device == "auto"
    asked = open_audited_model(source, labels=["a", "b", "c"], max_length=16, device="cpu")
    assert (asked.classes, asked.max_length, asked.device) == (["a", "b", "c"], 16, "cpu")
    assert replace(asked, name="renamed").classes == asked.classes


def test_a_masker_folder_says_what_it_was_trained_with(tiny_classifiers, tmp_path):
    """A method of a plug-in that is not installed is no obstacle; one without a network is."""
    folder = shutil.copytree(tiny_classifiers["bert"], tmp_path / "model")
    save_file({}, folder / TENSORS)

    def write(method):
        settings = {"training": {"method": method}}
        content = {"format": 1, "settings": settings, "max_length": 24, "pairs": True}
        (folder / MANIFEST).write_text(json.dumps(content))

    write("someone-elses")
    model = open_audited_model(str(folder))
    assert (model.max_length, model.pairs) == (24, True)
    for method in ("linear", "ocsvm"):
        write(method)
        with pytest.raises(ModelError, match=rf"\(method {method}\) has no network to audit"):
            open_audited_model(str(folder))


def test_logits_and_attention_come_from_the_chosen_device(tiny_classifiers, topic_documents, monkeypatch):
    """There is no accelerator here, so the backend and the reader of attention tell where they were asked to run."""
    model = open_audited_model(str(tiny_classifiers["bert"]), device="cpu")
    backends, readers = [], []

    class Recorded(TorchBackend):
        def __init__(self, classifier, tokenizer, device):
            super().__init__(classifier, tokenizer, device)
            backends.append((device, self))

    read = audited_model.visit_attention
    monkeypatch.setattr(audited_model, "TorchBackend", Recorded)
    monkeypatch.setattr(audited_model, "visit_attention", lambda *args: (readers.append(args[0]), read(*args)))
    audit_model(model, topic_documents, settings=AuditSettings(keywords="attention", documents=20, resamples=5))
    [(device, backend)] = backends
    assert device == "cpu", "one backend for the whole audit"
    assert len(readers) == 1 and readers[0] is backend.classifier, "attention is read where the classifier was moved"


def test_an_unknown_device_is_refused_at_once(bag_of_words):
    with pytest.raises(ConfigError, match="device must be auto, cpu, cuda, cuda:N or mps; got 'gpu'"):
        as_audited(*bag_of_words({}), device="gpu")
