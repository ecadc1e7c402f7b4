"""An exported model gives PyTorch's answers for every family, head and kind of input."""

from __future__ import annotations

import numpy as np
import pytest

from masker import ConfigError, MaskerClassifier, ModelError
from tests.conftest import FAMILIES, make_corpus
from tests.export.conftest import HEADS

#: Families whose layers can carry the mean.
POOLED = ("bert", "roberta")

CASES = [(family, head, False) for family in FAMILIES for head in HEADS]
CASES += [(family, "one-vs-rest", True) for family in FAMILIES]
CASES += [(family, "multi-class", pairs, "head", "mean") for family in POOLED for pairs in (False, True)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_the_same_answers(exported, case):
    model = exported(*case)
    torch, onnx = (MaskerClassifier.load(model.folder, backend) for backend in ("torch", "onnx"))
    expected, logits = torch.doc_logits(model.texts), onnx.doc_logits(model.texts)
    assert logits.dtype == np.float32
    assert logits.shape == expected.shape
    # A mean varies less from text to text than a document token.
    assert expected.std(axis=0).min() > (0.005 if "mean" in case else 0.02), "the logits of the texts must differ"
    np.testing.assert_allclose(logits, expected, atol=1e-4, rtol=0)
    before, after = torch.predict_texts(model.texts), onnx.predict_texts(model.texts)
    if case[1] == "regression":
        np.testing.assert_allclose([a.label for a in after], [b.label for b in before], atol=1e-4)
        return
    assert [answer.label for answer in after] == [answer.label for answer in before]
    assert [answer.is_ood for answer in after] == [answer.is_ood for answer in before]
    assert len({answer.is_ood for answer in before}) == 2, "both decisions must occur"
    np.testing.assert_allclose(onnx.ood_score(model.texts), torch.ood_score(model.texts), atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_features_are_those_of_the_document_token(exported, family):
    from masker.documents.encoding import encode

    model = exported(family, "one-vs-rest", False)
    torch, onnx = (MaskerClassifier.load(model.folder, backend) for backend in ("torch", "onnx"))
    encoded = encode(torch.model_.tokenizer, model.texts, None, 48)
    expected, features = (model.model_.backend.predict_outputs(encoded).features["cls"] for model in (torch, onnx))
    assert features.shape == (len(model.texts), 32)
    np.testing.assert_allclose(features, expected, atol=1e-4)
    # By hand: the first position of the last layer of one text alone.
    tokens = torch.model_.tokenizer(model.texts[1], return_tensors="pt", truncation=True, max_length=48)
    by_hand = torch.model_.backend.classifier(**tokens, output_hidden_states=True).hidden_states[-1][0, 0]
    np.testing.assert_allclose(features[1], by_hand.detach().numpy(), atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_single_text_equals_the_same_text_in_a_batch(exported, family):
    """The shortcut for a single text gives the same as a padded batch."""
    model = exported(family, "one-vs-rest", False)
    onnx = MaskerClassifier.load(model.folder, "onnx")
    together = onnx.doc_logits(model.texts)
    seen: list[int] = []
    alone = np.concatenate([onnx.doc_logits([text], seen.append) for text in model.texts])
    np.testing.assert_allclose(alone, together, atol=1e-5)
    assert seen == [1] * len(model.texts)


@pytest.mark.parametrize("family", POOLED)
def test_features_of_a_pooled_model_are_the_pooled_vectors(exported, family):
    """By hand: the normalised mean over the tokens of the encoder's last layer, of each text alone."""
    from masker.documents.encoding import encode
    from masker.modeling.pooling import encoder_layers

    model = exported(family, "multi-class", False, "head", "mean")
    torch, onnx = (MaskerClassifier.load(model.folder, backend).model_ for backend in ("torch", "onnx"))
    features = onnx.backend.predict_outputs(encode(onnx.tokenizer, model.texts, None, 48)).features["cls"]
    classifier = torch.backend.classifier
    for row in (0, 1, 40):
        tokens = torch.tokenizer(model.texts[row], return_tensors="pt", truncation=True, max_length=48)
        states = classifier(**tokens, output_hidden_states=True).hidden_states[encoder_layers(classifier.config)][0]
        summed = (1000.0 * states.mean(dim=0) + states[0]).detach().numpy()
        by_hand = (summed - summed.mean()) / summed.std()
        np.testing.assert_allclose(features[row], by_hand, atol=1e-3)


def test_windows(exported):
    model = exported("bert", "one-vs-rest", False, "windows")
    torch, onnx = (MaskerClassifier.load(model.folder, backend) for backend in ("torch", "onnx"))
    np.testing.assert_allclose(onnx.doc_logits(model.texts), torch.doc_logits(model.texts), atol=1e-4)
    long = next(text for text in model.texts if len(text.split()) > 40)
    assert np.abs(onnx.doc_logits([long]) - onnx.doc_logits([" ".join(long.split()[:8])])).max() > 1e-4


@pytest.mark.parametrize(
    "case",
    [*((family, "one-vs-rest", False) for family in FAMILIES),
     *((family, "multi-class", False, "head", "mean") for family in POOLED)],
    ids=lambda case: "-".join(map(str, case)),
)  # fmt: skip
def test_8_bits_are_smaller_and_mostly_agree(exported, case):
    model = exported(*case)
    size = {name: (model.folder / "onnx" / name).stat().st_size for name in ("model.onnx", "model.int8.onnx")}
    assert size["model.int8.onnx"] < size["model.onnx"]
    torch, int8 = (MaskerClassifier.load(model.folder, backend) for backend in ("torch", "onnx-int8"))
    texts, _ = make_corpus(90, seed=11)
    expected, logits = torch.doc_logits(texts), int8.doc_logits(texts)
    assert np.abs(logits - expected).max() > 1e-6, "the 8-bit graph was not used"
    assert (logits.argmax(axis=1) == expected.argmax(axis=1)).mean() >= 0.9
    assert (logits - expected).std() < 0.5 * expected.std(axis=0).mean()


def test_nothing_to_predict(exported):
    onnx = MaskerClassifier.load(exported().folder, "onnx")
    assert onnx.doc_logits([]).shape == (0, 3)
    assert onnx.predict_texts([]) == []


def test_torch_is_the_default(exported, trained):
    texts = ["rocket moon", "bread soup"]
    default = MaskerClassifier.load(exported().folder).doc_logits(texts)
    np.testing.assert_array_equal(default, MaskerClassifier.load(trained().folder, "torch").doc_logits(texts))


def test_a_backend_that_was_not_exported(trained, fresh):
    from masker.export import export_onnx

    with pytest.raises(ModelError, match=r"masker export .* --format onnx'$"):
        MaskerClassifier.load(trained().folder, "onnx")
    export_onnx(fresh)
    with pytest.raises(ModelError, match=r"masker export .* --format onnx --int8'$"):
        MaskerClassifier.load(fresh, "onnx-int8")


def test_an_unknown_backend(trained):
    with pytest.raises(ConfigError, match=r"torch, torch-bf16, onnx, onnx-int8; got 'onx'.*'onnx'"):
        MaskerClassifier.load(trained().folder, "onx")


def test_an_onnx_backend_has_nothing_to_save(exported, tmp_path):
    with pytest.raises(ModelError, match="backend='torch'"):
        MaskerClassifier.load(exported().folder, "onnx").save(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


@pytest.mark.slow
def test_8_bits_of_a_real_encoder_agree_on_99_of_100_texts(tmp_path):
    from masker.export import export_onnx

    texts, labels = make_corpus(240)
    settings = {"training": {"precision": "fp32"}, "detection": {"calibration": "split"}}
    classifier = MaskerClassifier(method="vanilla", epochs=2, max_length=48, settings=settings).fit(texts, labels)
    folder = classifier.save(tmp_path / "model")
    report = export_onnx(folder, int8=True)
    # Six layers with two layer norms each, and one norm of the pooling.
    assert {"Attention": 6, "SkipLayerNormalization": 13, "BiasGelu": 6}.items() <= report.fused.items()
    held_out, truth = make_corpus(300, seed=5)
    torch, onnx, int8 = (MaskerClassifier.load(folder, name) for name in ("torch", "onnx", "onnx-int8"))
    expected = torch.predict(held_out)
    assert (expected == np.array(truth)).mean() > 0.9
    assert (onnx.predict(held_out) == expected).all()
    assert (int8.predict(held_out) == expected).mean() >= 0.99
    assert (int8.is_ood(held_out) == torch.is_ood(held_out)).mean() >= 0.95
