"""Tiny models of each kind, trained and exported once."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from masker import MaskerClassifier
from masker.modeling.pooling import pooling_parameters
from tests.conftest import make_corpus

HEADS = ("one-vs-rest", "multi-class", "regression")


@dataclass(frozen=True)
class Model:
    """A model folder, and unseen texts of different lengths, some of them nonsense."""

    folder: Path
    texts: list


def unseen(pairs: bool = False) -> list:
    texts, _ = make_corpus(40, seed=7)
    texts = [" ".join([text] * (1 + index % 4)) for index, text in enumerate(texts)]
    texts += ["moon", "zzz qqq xxx", "", "rocket soup goal"]
    return list(zip(texts, reversed(texts), strict=True)) if pairs else texts


def spread(classifier: MaskerClassifier, texts: list) -> None:
    """Large random weights: a tiny encoder learns too little for its answers to differ from text to text."""
    network = classifier.model_.backend.classifier
    draw = torch.Generator().manual_seed(1)
    fixed = {id(parameter) for parameter in pooling_parameters(network)}
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 2 and id(parameter) not in fixed:
                parameter.normal_(std=parameter.shape[1] ** -0.5, generator=draw)
    if classifier.threshold_ is not None:
        scores = np.sort(classifier.ood_score(texts))
        middle = scores[len(scores) // 4 : -len(scores) // 4]
        place = np.diff(middle).argmax()
        classifier.threshold_ = float(middle[place : place + 2].mean())  # no score so close that rounding decides


@pytest.fixture(scope="session")
def trained(tmp_path_factory, tiny_settings):
    """``trained(family, head, pairs, long, pooling)``: a model folder, trained on first use. Do not write to it."""
    models: dict[tuple[str, str, bool, str, str], Model] = {}

    def get(
        family: str = "bert",
        head: str = "one-vs-rest",
        pairs: bool = False,
        long: str = "head",
        pooling: str = "document-token",
    ) -> Model:
        key = (family, head, pairs, long, pooling)
        if key not in models:
            model = {"head": head, "long_documents": long, "pooling": pooling}
            settings = tiny_settings(
                family,
                model={**model, **({"max_length": 16} if long == "windows" else {})},
                training={"method": "vanilla", "epochs": 1},
                detection={"calibration": "split", "score": "max-prob"},
            )
            texts, labels = make_corpus(30)
            if pairs:
                texts = list(zip(texts, make_corpus(30, seed=2)[0], strict=True))
            if head == "regression":
                labels = [float(["space", "food", "sport"].index(label)) for label in labels]
            classifier = MaskerClassifier.from_settings(settings).fit(texts, labels)
            spread(classifier, unseen(pairs))
            folder = tmp_path_factory.mktemp("trained") / "-".join(map(str, key))
            models[key] = Model(classifier.save(folder), unseen(pairs))
        return models[key]

    return get


@pytest.fixture(scope="session")
def exported(tmp_path_factory, trained):
    """``exported(family, head, pairs, long, pooling)``: a copy of that model with both graphs. Do not write to it."""
    from masker.export import export_onnx

    models: dict[tuple, Model] = {}

    def get(*key) -> Model:
        if key not in models:
            model = trained(*key)
            folder = tmp_path_factory.mktemp("exported") / model.folder.name
            shutil.copytree(model.folder, folder)
            export_onnx(folder, int8=True)
            models[key] = Model(folder, model.texts)
        return models[key]

    return get


@pytest.fixture
def fresh(tmp_path, trained) -> Path:
    """A copy of a model folder that a test may change."""
    return Path(shutil.copytree(trained().folder, tmp_path / "model"))


@pytest.fixture
def fresh_export(tmp_path, exported) -> Path:
    """A copy with both graphs that a test may change."""
    return Path(shutil.copytree(exported().folder, tmp_path / "model"))
