"""Every comparison system through the one facade: trained, saved, opened, resumed."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch

from masker import ConfigError, Documents, MaskerClassifier, ModelError
from masker.classifier_parameters import settings_from_parameters
from masker.model_files import folder_content
from masker.training.run import TrainingRun
from masker.training.trainer import MaskerTrainer
from tests.conftest import count_steps, make_corpus, train_network

CLASSES = ["food", "space", "sport"]
FREQUENCY = {"keywords": {"source": "frequency"}}
SYSTEMS = {
    "vanilla": {},
    "residual": FREQUENCY,
    "residual multi-class": {**FREQUENCY, "model": {"head": "multi-class"}},
    "openmax": {"baselines": {"openmax_distance": "euclidean-cosine"}},
    "openmax convolution": {"baselines": {"openmax_network": "convolution", "doc_filters": 8}},
    "doc": {"baselines": {"doc_filters": 16}},
    "ocsvm": {},
    "ocsvm encoder": {"baselines": {"ocsvm_features": "encoder"}},
    "linear": {},
    "ocsvm sgd": {"baselines": {"ocsvm_solver": "sgd", "ocsvm_components": 20}},
}
TEXTS = [*make_corpus(24, seed=4)[0], "zzz qqq xxx", "", "moon"]


@pytest.fixture(scope="module")
def settings_of(tiny_settings):
    def build(name, **training):
        sections = SYSTEMS[name]
        return tiny_settings(**sections, training={"method": name.split()[0], **training})

    return build


@pytest.fixture(scope="module")
def new_settings_of(new_head_settings):
    """One network with a new head and a validation part, for what happens within one training."""

    def build(name, **training):
        return new_head_settings(**SYSTEMS[name], training={"method": name.split()[0], **training})

    return build


def fit(settings, texts_and_labels=None) -> MaskerClassifier:
    return MaskerClassifier.from_settings(settings).fit(*(texts_and_labels or make_corpus(66)))


@pytest.fixture(scope="module")
def fitted(settings_of):
    """``fitted(name)``: a trained system, made when first asked for. Not to be changed."""
    models: dict[str, MaskerClassifier] = {}

    def get(name: str) -> MaskerClassifier:
        if name not in models:
            models[name] = fit(settings_of(name))
        return models[name]

    return get


def state(classifier: MaskerClassifier) -> dict[str, np.ndarray]:
    weights = classifier.model_.backend.weights()
    native = weights.native.state_dict() if hasattr(weights.native, "state_dict") else {}
    arrays = {name: tensor.numpy() for name, tensor in native.items()}
    return {**arrays, **folder_content(classifier.model_, weights.tensors).tensors}


def assert_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], name)


@pytest.mark.parametrize("name", SYSTEMS)
def test_saved_and_opened_it_says_the_same(name, fitted, tmp_path):
    model = fitted(name)
    folder = model.save(tmp_path / "model")
    assert json.loads((folder / "masker.json").read_text())["settings"]["training"]["method"] == name.split()[0]
    again = MaskerClassifier.load(folder)
    assert again.predict_texts(TEXTS) == model.predict_texts(TEXTS)
    twice = MaskerClassifier.load(again.save(tmp_path / "again"))
    assert twice.predict_texts(TEXTS) == model.predict_texts(TEXTS)
    assert {path.suffix for path in folder.iterdir()} <= {".json", ".safetensors"}


@pytest.mark.parametrize("name", SYSTEMS)
def test_label_confidence_score_and_decision_go_together(name, fitted):
    model = fitted(name)
    answers = model.predict_texts(TEXTS)
    assert [answer.label for answer in answers] == model.predict(TEXTS).tolist()
    assert [answer.confidence for answer in answers] == model.predict_proba(TEXTS).max(axis=1).tolist()
    scores = np.array([answer.ood_score for answer in answers])
    np.testing.assert_array_equal(scores, model.ood_score(TEXTS))
    assert np.isfinite(scores).all() and len(np.unique(scores)) > 5
    assert [answer.is_ood for answer in answers] == (scores > model.threshold_).tolist()
    assert model.predict_texts([]) == []
    assert model.ood_score([]).shape == (0,)


@pytest.mark.parametrize("name", SYSTEMS)
def test_same_seed_same_system(name, fitted, settings_of):
    assert_same(state(fit(settings_of(name))), state(fitted(name)))
    assert not np.array_equal(fit(settings_of(name, seed=1)).ood_score(TEXTS), fitted(name).ood_score(TEXTS))


@pytest.mark.parametrize("name", ["openmax", "doc", "ocsvm", "ocsvm encoder", "linear"])
def test_evaluation_uses_the_systems_own_score(name, fitted):
    model = fitted(name)
    texts, labels = make_corpus(30, seed=8)
    strange = ["zzz qqq xxx " * n for n in range(1, 11)]
    report = model.evaluate(
        Documents(texts, None, labels, "test"), {"strange": Documents(strange, None, None, "strange")}, resamples=5
    )
    pairs = model.ood_score(strange)[:, None] - model.ood_score(texts)
    expected = (pairs > 0).mean() + 0.5 * (pairs == 0).mean()
    assert report["ood"]["strange"]["auroc"]["value"] == pytest.approx(expected)
    assert report["rejected"] == pytest.approx(np.mean(model.is_ood(texts)))


def test_systems_that_can_learn_from_so_little_do(fitted):
    texts, labels = make_corpus(60, seed=9)
    for name, least in {"ocsvm": 0.9, "ocsvm sgd": 0.9, "ocsvm encoder": 0.5}.items():
        assert fitted(name).score(texts, labels) >= least, name
    foreign = ["zzz qqq xxx", "xyzw wzyx", "qqq"]
    assert fitted("ocsvm").ood_score(foreign).min() > np.median(fitted("ocsvm").ood_score(texts))


def test_doc_learns_words(settings_of):
    """Word vectors of a random encoder tell words apart, and that is all this corpus needs."""
    model = fit(settings_of("doc", epochs=15), make_corpus(150))
    assert model.score(*make_corpus(60, seed=9)) > 0.8


def test_two_classes(tiny_settings):
    texts, labels = make_corpus(60)
    kept = [place for place, label in enumerate(labels) if label != "sport"]
    model = fit(tiny_settings(training={"method": "ocsvm"}), ([texts[i] for i in kept], [labels[i] for i in kept]))
    assert model.score([texts[i] for i in kept], [labels[i] for i in kept]) > 0.9
    np.testing.assert_allclose(model.predict_proba(texts).sum(axis=1), 1.0)


@pytest.mark.parametrize("name", ["openmax", "doc", "ocsvm", "ocsvm encoder", "residual", "linear"])
def test_windows_of_long_documents(name, settings_of, tmp_path):
    settings = settings_of(name, epochs=1)
    settings = settings.model_validate(
        {**settings.model_dump(), "model": {**settings.model.model_dump(), "long_documents": "windows",
                                            "max_length": 16}}
    )  # fmt: skip
    texts, labels = make_corpus(45)
    long = [("the of and we they " * (index % 4)) + text for index, text in enumerate(texts)]
    model = fit(settings, (long, labels))
    answers = model.predict_texts(long)
    assert len(answers) == 45
    assert MaskerClassifier.load(model.save(tmp_path / "m")).predict_texts(long) == answers


@pytest.mark.parametrize("family", ["roberta", "albert"])
@pytest.mark.parametrize("method", ["residual", "doc", "ocsvm"])
def test_other_families_and_pairs_of_texts(family, method, tiny_settings, tmp_path):
    """ALBERT's word vectors are narrower than its hidden states; RoBERTa has no token types."""
    # The tiny ALBERT's documents differ by little more than rounding, which the surprise of ``auto`` would magnify.
    score = {"score": "max-prob"} if method == "residual" else {}
    settings = tiny_settings(
        family,
        **FREQUENCY,
        training={"method": method, "epochs": 1},
        baselines={"ocsvm_features": "encoder"},
        detection=score,
    )
    texts, labels = make_corpus(45)
    pairs = list(zip(texts, reversed(texts), strict=True))
    model = fit(settings, (pairs, labels))
    answers = model.predict_texts(pairs)
    assert MaskerClassifier.load(model.save(tmp_path / "m")).predict_texts(pairs) == answers
    np.testing.assert_allclose(
        [model.ood_score([pair])[0] for pair in pairs[:6]], [answer.ood_score for answer in answers[:6]], atol=1e-5
    )


# --- residual ensemble -----------------------------------------------------------------------------------------------


@pytest.fixture
def documents() -> Documents:
    texts, labels = make_corpus(66)
    return Documents(texts, None, labels, "made up")


def network(trained) -> dict[str, torch.Tensor]:
    return trained.network.classifier.state_dict()


def test_residual_with_a_bias_of_nothing_is_vanilla_step_for_step(documents, new_settings_of, tmp_path, monkeypatch):
    vanilla = train_network(documents, CLASSES, new_settings_of("vanilla"), tmp_path / "vanilla")
    biased = train_network(documents, CLASSES, new_settings_of("residual"), tmp_path / "biased")
    monkeypatch.setattr(
        TrainingRun, "bias_logits", lambda run, keywords: np.zeros((len(run.data.train), 3), dtype=np.float32)
    )
    plain = train_network(documents, CLASSES, new_settings_of("residual"), tmp_path / "plain")
    assert_same(network(plain), network(vanilla))
    assert not torch.equal(network(biased)["classifier.weight"], network(vanilla)["classifier.weight"])


def test_biased_model_sees_keywords_only_and_hands_over_its_logits(documents, new_settings_of, tmp_path, monkeypatch):
    seen: dict[str, list] = {}
    step = MaskerTrainer.compute_loss

    def spy(trainer, model, inputs, *args, **kwargs):
        if model.training:
            seen.setdefault(trainer.args.output_dir.rsplit("/", 1)[1], []).append(dict(inputs))
        return step(trainer, model, inputs, *args, **kwargs)

    monkeypatch.setattr(MaskerTrainer, "compute_loss", spy)
    trained = train_network(documents, CLASSES, new_settings_of("residual", epochs=1), tmp_path)
    assert list(seen) == ["biased", "residual"]
    tokenizer = trained.tokenizer
    allowed = {token for keyword in trained.keywords for token in keyword.token_ids} | set(tokenizer.all_special_ids)
    assert {int(token) for batch in seen["biased"] for token in batch["input_ids"].unique()} <= allowed
    assert all("bias_logits" not in batch for batch in seen["biased"])
    from safetensors.torch import load_file

    handed = torch.cat([batch["bias_logits"] for batch in seen["residual"]])
    stored = load_file(tmp_path / "bias.safetensors")["logits"]
    torch.testing.assert_close(handed.sort(dim=0).values, stored.sort(dim=0).values)


class Killed(Exception):
    pass


@pytest.mark.parametrize(
    ("name", "stage", "left"),
    [("residual", "biased", 8 + 16), ("residual", "residual", 8), ("doc", "doc", 8)],
)
def test_resumed_equals_uninterrupted(documents, new_settings_of, tmp_path, monkeypatch, name, stage, left):
    """Killed after the first of two epochs of a stage; 60 training documents in batches of 8 are 8 steps an epoch."""
    settings = new_settings_of(name)
    whole = train_network(documents, CLASSES, settings, tmp_path / "whole")
    original = MaskerTrainer._save_checkpoint

    def killed(trainer, model, trial):
        original(trainer, model, trial)
        if trainer.args.output_dir.endswith(f"/{stage}"):
            raise Killed

    monkeypatch.setattr(MaskerTrainer, "_save_checkpoint", killed)
    with pytest.raises(Killed):
        train_network(documents, CLASSES, settings, tmp_path / "cut")
    monkeypatch.setattr(MaskerTrainer, "_save_checkpoint", original)
    steps = count_steps(monkeypatch)
    resumed = train_network(documents, CLASSES, settings, tmp_path / "cut")
    assert len(steps) == left
    assert_same(network(resumed), network(whole))
    assert resumed.validation == whole.validation


def test_residual_takes_attention_keywords_of_a_vanilla_stage(documents, new_head_settings, tmp_path):
    trained = train_network(
        documents, CLASSES, new_head_settings(training={"method": "residual", "epochs": 1}), tmp_path / "work"
    )
    assert trained.keywords.source == "attention"
    assert {path.name for path in (tmp_path / "work").iterdir() if path.is_dir()} == {"vanilla", "biased", "residual"}


# --- decisions and refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["doc", "ocsvm"])
def test_published_rule_rejects_above_zero(name, settings_of, fitted):
    settings = settings_of(name)
    settings = settings.model_validate({**settings.model_dump(), "detection": {"rule": "published"}})
    model = fit(settings)
    assert model.threshold_ == 0.0
    assert fitted(name).threshold_ != 0.0
    np.testing.assert_array_equal(model.ood_score(TEXTS), fitted(name).ood_score(TEXTS))


def test_convolution_is_exported_and_one_class_svm_is_refused(fitted, tmp_path):
    from masker.export import export_onnx

    folder = fitted("doc").save(tmp_path / "doc")
    export_onnx(folder)
    np.testing.assert_allclose(
        MaskerClassifier.load(folder, "onnx").ood_score(TEXTS), fitted("doc").ood_score(TEXTS), atol=1e-5
    )
    for name in ("ocsvm", "ocsvm encoder", "linear"):
        folder = fitted(name).save(tmp_path / name)
        before = sorted(path.name for path in folder.iterdir())
        with pytest.raises(ModelError, match="no network of its own"):
            export_onnx(folder)
        assert sorted(path.name for path in folder.iterdir()) == before
        with pytest.raises(ConfigError, match="without a network for backend 'onnx'"):
            MaskerClassifier.load(folder, "onnx")


def test_frozen_features_in_bf16(fitted, tmp_path):
    folder = fitted("linear").save(tmp_path / "linear")
    narrow = MaskerClassifier.load(folder, "torch-bf16")
    scores, expected = narrow.ood_score(TEXTS), fitted("linear").ood_score(TEXTS)
    np.testing.assert_allclose(scores, expected, atol=0.05)
    assert not np.array_equal(scores, expected)
    with pytest.raises(ModelError, match="does not hold the full weights"):
        narrow.save(tmp_path / "again")
    folder = fitted("ocsvm").save(tmp_path / "ocsvm")
    with pytest.raises(ConfigError, match="without a network for backend 'torch-bf16'"):
        MaskerClassifier.load(folder, "torch-bf16")


def test_linear_reads_the_document_token_of_an_encoder_trained_for_it(tiny_settings, tmp_path):
    """The same answers after saving; and other vectors than those of the mean, which nothing declares."""
    folder = shutil.copytree(tiny_settings().model.backbone, tmp_path / "declared")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    models = {
        name: fit(tiny_settings(**sections))
        for name, sections in {
            "mean": {"training": {"method": "linear"}, "model": {"pooling": "document-token"}},
            "first": {"training": {"method": "linear"}, "model": {"backbone": str(folder)}},
        }.items()
    }
    scores = {name: model.ood_score(TEXTS) for name, model in models.items()}
    assert not np.allclose(scores["mean"], scores["first"])
    for name, model in models.items():
        again = MaskerClassifier.load(model.save(tmp_path / f"saved {name}"))
        np.testing.assert_allclose(again.ood_score(TEXTS), scores[name], atol=1e-6)


def test_models_without_attention_give_no_attention_keywords(fitted, documents, tiny_settings, tmp_path):
    for name in ("doc", "ocsvm"):
        folder = fitted(name).save(tmp_path / name)
        with pytest.raises(ConfigError, match=f"method {name}.* has no attention"):
            train_network(documents, CLASSES, tiny_settings(keywords={"attention_model": str(folder)}), tmp_path / "w")


def test_a_convolution_is_no_backbone(fitted, documents, tiny_settings, tmp_path):
    folder = fitted("doc").save(tmp_path / "doc")
    with pytest.raises(ModelError, match="not a bidirectional encoder"):
        train_network(documents, CLASSES, tiny_settings(model={"backbone": str(folder)}), tmp_path / "w")


@pytest.mark.parametrize("name", ["openmax", "doc", "ocsvm"])
def test_lost_statistics_are_told_in_one_line(name, fitted, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = fitted(name).save(tmp_path / "model")
    tensors = load_file(folder / "masker.safetensors")
    lost = {key: value for key, value in tensors.items() if not key.startswith("score.")}
    save_file(lost, folder / "masker.safetensors")
    with pytest.raises(ModelError, match=r"statistics .* are damaged"):
        MaskerClassifier.load(folder)


def test_facade_takes_the_head_that_the_method_needs(tiny_backbones):
    assert settings_from_parameters(MaskerClassifier(method="openmax", backbone="x")).model.head == "multi-class"
    assert settings_from_parameters(MaskerClassifier(method="doc")).model.head == "one-vs-rest"
    with pytest.raises(ConfigError, match=r"model.head must be multi-class for training.method=openmax"):
        MaskerClassifier(method="openmax", head="one-vs-rest").fit(*make_corpus(9))
