"""What the head reads: as set, as declared, or by comparison."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch

from masker.config import build_settings
from masker.documents.encoding import encode
from masker.modeling.backbone import load_backbone
from masker.modeling.pooling import pooling_of
from masker.training import pooling_choice as module
from masker.training.pooling_choice import Pooling, choose_pooling
from tests.conftest import make_corpus

CLASSES = ["food", "space", "sport"]
TEXTS, NAMES = make_corpus(60)
LABELS = np.array([CLASSES.index(name) for name in NAMES])


def choose(folder, labels=LABELS, **sections) -> Pooling:
    settings = build_settings({"model": {"backbone": str(folder)}}, sections)
    classes = [] if settings.model.head == "regression" else CLASSES
    backbone = load_backbone(settings.model, classes)
    train = encode(backbone.tokenizer, TEXTS, None, 32, labels=labels)
    return choose_pooling(settings, classes, train, backbone, torch.device("cpu"))


@pytest.mark.parametrize("pooling", ["mean", "document-token"])
def test_as_set(tiny_backbones, pooling):
    assert choose(tiny_backbones["bert"], model={"pooling": pooling}) == (pooling, "as set")


def test_a_new_head_reads_the_document_token(tiny_backbones):
    chosen = choose(tiny_backbones["bert"], training={"head_start": "new"})
    assert chosen == ("document-token", "for a new head")


def test_a_family_without_a_mean(tiny_backbones):
    assert choose(tiny_backbones["albert"]) == ("document-token", "albert has no mean")


@pytest.mark.parametrize(("key", "pooling"), [("mean_tokens", "mean"), ("cls_token", "document-token")])
def test_a_sentence_encoder_declares_it(tiny_backbones, tmp_path, key, pooling):
    folder = tmp_path / "sentences"
    shutil.copytree(tiny_backbones["bert"], folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{key}": True}))
    assert choose(folder) == (pooling, "the encoder was trained for it")


def values_of(kind):
    return LABELS if kind == "multi-class" else LABELS.astype(np.float32)


@pytest.mark.parametrize("head", ["multi-class", "regression"])
@pytest.mark.parametrize("better", ["mean", "document-token"])
def test_otherwise_probes_are_compared_on_left_out_folds(tiny_backbones, monkeypatch, head, better):
    """One pooling knows the class, the other is noise: 0 for a sure probe, about log 3 (or the variance) for noise."""

    def vectors(classifier, tokenizer, encoded, device):
        draw = np.random.default_rng(0)
        told = pooling_of(classifier.config) == better
        return 7.0 * np.eye(8)[LABELS] * told + draw.normal(size=(60, 8))

    monkeypatch.setattr(module, "head_inputs", vectors)
    chosen = choose(tiny_backbones["bert"], values_of(head), model={"head": head})
    assert chosen.name == better and chosen.reason.startswith("held-out loss of a probe: mean ")


def test_the_comparison_does_not_depend_on_the_length_of_vectors(tiny_backbones, monkeypatch):
    def vectors(classifier, tokenizer, encoded, device):
        scale = 100.0 if pooling_of(classifier.config) == "mean" else 0.01
        return scale * (np.eye(8)[LABELS] + np.random.default_rng(0).normal(size=(60, 8)))

    monkeypatch.setattr(module, "head_inputs", vectors)
    figures = choose(tiny_backbones["bert"]).reason.removeprefix("held-out loss of a probe: ").split(", ")
    assert len({figure.split()[1] for figure in figures}) == 1


def test_a_sample_is_enough(tiny_backbones, monkeypatch):
    monkeypatch.setattr(module, "COMPARED", 20)
    sizes = []

    def vectors(classifier, tokenizer, encoded, device):
        sizes.append(len(encoded))
        return np.random.default_rng(0).normal(size=(len(encoded), 8))

    monkeypatch.setattr(module, "head_inputs", vectors)
    choose(tiny_backbones["bert"])
    assert sizes == [20, 20]
