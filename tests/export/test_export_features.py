"""An export has the features that the model's score reads, and makes PyTorch's decisions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from masker import MaskerClassifier
from masker.documents.encoding import encode
from masker.export import export_onnx
from masker.inference.onnx_backend import ONNX_FOLDER
from tests.conftest import FAMILIES, make_corpus

TEXTS = make_corpus(60, seed=7)[0] + ["moon", "zzz qqq xxx " * 9, "", "rocket soup goal " * 5]


@pytest.fixture(scope="module")
def scored(tmp_path_factory, tiny_settings):
    """``scored(family, score)``: the folder of a model with that score and its export."""
    folders = {}

    def get(family: str, score: str):
        if (family, score) not in folders:
            settings = tiny_settings(
                family,
                training={"method": "vanilla", "epochs": 1},
                detection={"score": score, "calibration": "split"},
                data={"validation_fraction": 0.4},
            )
            model = MaskerClassifier.from_settings(settings).fit(*make_corpus(150))
            folders[family, score] = model.save(tmp_path_factory.mktemp("scored") / score)
            export_onnx(folders[family, score])
        return folders[family, score]

    return get


def record_of(folder):
    return json.loads((folder / ONNX_FOLDER / "export.json").read_text())


# The tiny ALBERT's document tokens differ by little more than rounding, which the surprise of ``auto`` would magnify.
@pytest.mark.parametrize(
    ("family", "score"),
    [("bert", "auto"), ("roberta", "auto"), ("bert", "mahalanobis-middle"), ("bert", "knn"),
     ("albert", "mahalanobis-middle")],
)  # fmt: skip
def test_scores_and_decisions_are_those_of_pytorch(scored, family, score):
    folder = scored(family, score)
    torch, onnx = (MaskerClassifier.load(folder, backend) for backend in ("torch", "onnx"))
    expected, scores = torch.ood_score(TEXTS), onnx.ood_score(TEXTS)
    np.testing.assert_allclose(scores, expected, rtol=2e-3, atol=2e-3)
    clear = np.abs(expected - torch.threshold_) > 0.01 * np.abs(expected)
    assert clear.mean() > 0.8
    np.testing.assert_array_equal(onnx.is_ood(TEXTS)[clear], torch.is_ood(TEXTS)[clear])


@pytest.mark.parametrize("score", ["auto", "mahalanobis"])
def test_the_last_layer_is_cut_to_the_document_token(scored, score):
    onnx = pytest.importorskip("onnx")
    folder = scored("bert", score)
    assert record_of(folder)["fused"], "the nodes must have been fused"
    nodes = onnx.load(str(folder / ONNX_FOLDER / "model.onnx")).graph.node
    assert any("document_token_start" in node.input for node in nodes)


def test_another_score_needs_an_export_that_has_its_features(scored):
    folder = scored("bert", "auto")
    assert record_of(folder)["features"] == ["cls", "middle"]
    # The model has statistics of both kinds, so every score of them works.
    for score in ("knn", "relative-mahalanobis-middle", "energy"):
        expected = MaskerClassifier.load(folder, "torch", score=score).ood_score(TEXTS)
        found = MaskerClassifier.load(folder, "onnx", score=score).ood_score(TEXTS)
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("family", FAMILIES)
def test_features_by_hand(scored, family):
    """``middle`` of two layers is the first: the mean over its content tokens of one text alone."""
    folder = scored(family, "auto")
    torch = MaskerClassifier.load(folder, "torch").model_
    onnx = MaskerClassifier.load(folder, "onnx").model_
    texts = TEXTS[:8]
    features = onnx.backend.predict_outputs(encode(onnx.tokenizer, texts, None, 48), ["cls", "middle"]).features
    for row, text in enumerate(texts):
        tokens = torch.tokenizer(text, return_tensors="pt", truncation=True, max_length=48)
        states = torch.backend.classifier(**tokens, output_hidden_states=True).hidden_states[1][0, 1:-1]
        np.testing.assert_allclose(features["middle"][row], states.mean(dim=0).detach().numpy(), atol=1e-4)
