"""Training as a whole: repeatable, resumable, equal to vanilla where it must be.

Most of it is about one network trained for epochs, so it trains a new head with documents set aside; the folds of the
default have tests of their own.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from masker import Documents
from masker.training import training_stage
from masker.training.trainer import MaskerTrainer
from tests.conftest import count_steps, fit_classifier, make_corpus, train_network


@pytest.fixture
def documents() -> Documents:
    texts, labels = make_corpus(66)
    return Documents(texts, None, labels, "made up")


def weights(trained) -> dict[str, torch.Tensor]:
    return trained.network.classifier.state_dict()


def assert_same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        torch.testing.assert_close(tensor, other[name], rtol=0, atol=0, msg=name)


CLASSES = ["food", "space", "sport"]


def test_same_seed_same_model_and_another_seed_another(documents, new_head_settings, tmp_path):
    settings = new_head_settings()
    one = train_network(documents, CLASSES, settings, tmp_path / "one")
    two = train_network(documents, CLASSES, settings, tmp_path / "two")
    assert one.keywords == two.keywords
    assert_same(weights(one), weights(two))
    other = train_network(documents, CLASSES, new_head_settings(training={"seed": 1}), tmp_path / "other")
    assert not torch.equal(weights(one)["classifier.weight"], weights(other)["classifier.weight"])


def test_lambda_zero_is_vanilla_step_for_step(documents, new_head_settings, tmp_path):
    """With both weights 0 MASKER draws the same batches, takes the same steps and ends at the same weights."""
    common = {"epochs": 2, "averaged_share": 0.0}
    vanilla = train_network(
        documents, CLASSES, new_head_settings(training={**common, "method": "vanilla"}), tmp_path / "vanilla"
    )
    masker = train_network(
        documents,
        CLASSES,
        new_head_settings(
            training=common, loss={"lambda_mkr": 0.0, "lambda_mer": 0.0}, keywords={"source": "frequency"}
        ),
        tmp_path / "masker",
    )
    assert_same(weights(vanilla), weights(masker))
    on = train_network(
        documents, CLASSES, new_head_settings(training=common, keywords={"source": "frequency"}), tmp_path / "on"
    )
    assert not torch.equal(weights(on)["classifier.weight"], weights(vanilla)["classifier.weight"])


@pytest.mark.parametrize("method", ["masker", "vanilla", "openmax", "doc"])
def test_the_final_model_is_the_mean_of_its_last_steps(documents, new_head_settings, tmp_path, monkeypatch, method):
    """The share of the steps that count, none before, at a rate that stays; a stage on the way is no mean."""
    seen: dict[bool, list[dict[str, torch.Tensor]]] = {False: [], True: []}
    rates: dict[bool, list[float]] = {False: [], True: []}
    original = MaskerTrainer.log

    def log(self, logs, start_time=None):  # after each step
        if "loss" in logs:
            averaged = self.average is not None
            rates[averaged].append(logs["learning_rate"])
            state = self.model.classifier.state_dict()
            seen[averaged].append({name: tensor.detach().clone() for name, tensor in state.items()})
        original(self, logs, start_time)

    monkeypatch.setattr(MaskerTrainer, "log", log)
    training = {"method": method, "epochs": 2, "logging_steps": 1, "averaged_share": 0.5}
    settings = new_head_settings(training=training, baselines={"doc_filters": 8})
    trained = train_network(documents, CLASSES, settings, tmp_path / "work")
    assert rates[True][-1] == max(rates[True])
    if method == "masker":
        assert len(seen[False]) == len(seen[True]) and rates[False][-1] < max(rates[False])
    else:
        assert not seen[False]
    steps = seen[True]
    counted = steps[len(steps) // 2 :]
    assert 1 < len(counted) < len(steps)
    for name, tensor in weights(trained).items():
        if tensor.is_floating_point():
            expected = torch.stack([step[name] for step in counted]).mean(dim=0)
            torch.testing.assert_close(tensor, expected, rtol=1e-5, atol=1e-7)
    last = "output.weight" if method == "doc" else "classifier.weight"
    assert not torch.equal(weights(trained)[last], steps[-1][last])


class Killed(Exception):
    pass


def test_resumed_from_the_last_step_equals_uninterrupted(documents, tiny_settings, tmp_path, monkeypatch):
    """Killed between the last checkpoint and the result of a stage whose last step is amid an epoch."""
    settings = tiny_settings(training={"epochs": 1}, detection={"calibration": "split"})
    documents = documents.take(range(60))
    whole = train_network(documents, CLASSES, settings, tmp_path / "whole")
    write = training_stage.write_tensors

    def killed(tensors, path, *rest):
        if path.parent.name == "vanilla":
            raise Killed
        write(tensors, path, *rest)

    monkeypatch.setattr(training_stage, "write_tensors", killed)
    with pytest.raises(Killed):
        train_network(documents, CLASSES, settings, tmp_path / "cut")
    monkeypatch.setattr(training_stage, "write_tensors", write)
    state = json.loads(next((tmp_path / "cut" / "vanilla").glob("checkpoint-*/trainer_state.json")).read_text())
    assert state["global_step"] == state["max_steps"] and state["epoch"] % 1, "or the test shows nothing"
    resumed = train_network(documents, CLASSES, settings, tmp_path / "cut")
    assert resumed.keywords == whole.keywords
    assert_same(weights(resumed), weights(whole))


@pytest.mark.parametrize("when", ["vanilla", "masker", "torn"])
def test_resumed_equals_uninterrupted(documents, new_head_settings, tmp_path, monkeypatch, when):
    """Killed after an epoch of the vanilla or the MASKER stage, or while a checkpoint is written."""
    settings = new_head_settings(training={"epochs": 3})
    whole = train_network(documents, CLASSES, settings, tmp_path / "whole")

    stage = "masker" if when == "torn" else when
    original = MaskerTrainer._save_checkpoint

    def killed_after_second_save(trainer, model, trial):
        original(trainer, model, trial)
        saved = sorted((tmp_path / "cut" / stage).glob("checkpoint-*")) if trainer_stage(trainer) == stage else []
        if len(saved) == 2 or (saved and when == "vanilla"):
            if when == "torn":
                newest = max(saved, key=lambda path: int(path.name.split("-")[1]))
                state = newest / "trainer_state.json"
                state.write_text(state.read_text()[:40])
            raise Killed

    def trainer_stage(trainer) -> str:
        return str(trainer.args.output_dir).rsplit("/", 1)[1]

    monkeypatch.setattr(MaskerTrainer, "_save_checkpoint", killed_after_second_save)
    with pytest.raises(Killed):
        train_network(documents, CLASSES, settings, tmp_path / "cut")
    monkeypatch.setattr(MaskerTrainer, "_save_checkpoint", original)
    steps = count_steps(monkeypatch)
    resumed = train_network(documents, CLASSES, settings, tmp_path / "cut")
    whole_run = 3 * 8 + 3 * 8  # 60 training documents in batches of 8: 8 steps an epoch
    assert 0 < len(steps) < whole_run, "it went on, it did not start again"
    assert resumed.keywords == whole.keywords
    assert_same(weights(resumed), weights(whole))
    assert resumed.validation == whole.validation


def test_folds_resume_where_they_stopped(documents, tiny_settings, tmp_path, monkeypatch):
    """By default: a short vanilla stage, then five networks of 32 steps. Killed after the second, three are left."""
    settings = tiny_settings(training={"epochs": None, "batch_size": 32})
    whole = fit_classifier(documents, settings, tmp_path / "whole")
    assert sorted(path.name for path in (tmp_path / "whole").iterdir() if path.is_dir()) == [
        *(f"fold-{fold}" for fold in range(1, 6)), "vanilla",
    ]  # fmt: skip
    train, begun = MaskerTrainer.train, []

    def killed_at_the_fourth_stage(trainer, *args, **kwargs):
        begun.append(trainer.args.output_dir)
        if len(begun) == 4:
            raise Killed
        return train(trainer, *args, **kwargs)

    monkeypatch.setattr(MaskerTrainer, "train", killed_at_the_fourth_stage)
    with pytest.raises(Killed):
        fit_classifier(documents, settings, tmp_path / "cut")
    begun.clear()
    resumed = fit_classifier(documents, settings, tmp_path / "cut")
    assert [path.split("/")[-2:] for path in begun] == [[f"fold-{fold}", "masker"] for fold in (3, 4, 5)]
    assert resumed.keywords_ == whole.keywords_ and resumed.detection_ == whole.detection_
    texts = make_corpus(12, seed=2)[0]
    assert resumed.predict_texts(texts) == whole.predict_texts(texts)
    assert resumed.model_.validation == whole.model_.validation


def test_checkpoints_hold_no_pickle(documents, new_head_settings, tmp_path, monkeypatch):
    original = MaskerTrainer._save_checkpoint
    names: set[str] = set()

    def listing(trainer, model, trial):
        original(trainer, model, trial)
        names.update(path.name for path in (tmp_path / "vanilla").rglob("*") if path.is_file())

    monkeypatch.setattr(MaskerTrainer, "_save_checkpoint", listing)
    train_network(documents, CLASSES, new_head_settings(training={"method": "vanilla"}), tmp_path)
    assert names == {
        "loss_sums.json",
        "model.safetensors",
        "optimizer.safetensors",
        "schedule.json",
        "random_0.json",
        "trainer_state.json",
    }


def test_accumulation_is_one_large_batch(documents, new_head_settings, tmp_path):
    """Two micro-batches of 4 and one batch of 8 give the same gradient, whatever views their documents have.

    Batches are grouped by length, so micro-batches of one step must be the halves of the large batch: with all
    documents in one block both samplers cut the same order.
    """
    from masker.documents.encoding import encode
    from masker.masking.collator import Collator
    from masker.modeling.backbone import load_backbone
    from masker.modeling.network import MaskerNetwork
    from masker.modeling.tokens import special_ids_of
    from masker.training.keyword_stage import choose_keywords
    from masker.training.schedule import Schedule
    from masker.training.training_data import TrainingData
    from masker.training.training_stage import TrainingStage, make_views

    settings = new_head_settings(loss={"lambda_mkr": 0.1, "lambda_mer": 0.1}, keywords={"source": "frequency"})
    backbone = load_backbone(settings.model, CLASSES)
    labels = np.array([CLASSES.index(label) for label in documents.labels])
    encoded = encode(backbone.tokenizer, documents.texts, None, 32, labels=labels)
    keywords = choose_keywords(settings, backbone.tokenizer, encoded, len(CLASSES), lambda: backbone.classifier)
    network = MaskerNetwork(backbone.classifier, len(keywords.target_ids)).eval()  # no dropout
    views = make_views(settings, keywords, backbone.tokenizer)
    special = sorted(special_ids_of(backbone.tokenizer))
    collator = Collator(backbone.tokenizer.pad_token_id, special, views)
    data, stage = TrainingData(encoded, encoded), TrainingStage("test", Schedule(epochs=1), keywords)
    trainer = MaskerTrainer(network, settings, stage, tmp_path, data, collator, torch.device("cpu"))

    def gradient(parts):
        network.zero_grad()
        network.train()
        for module in network.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        batches = [collator([encoded[row] for row in part]) for part in parts]
        count = trainer._get_num_items_in_batch(batches, torch.device("cpu"))
        for batch in batches:
            trainer.compute_loss(network, batch, num_items_in_batch=count).backward()
        return torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])

    torch.testing.assert_close(gradient([[0, 1, 2, 3, 4, 5, 6, 7]]), gradient([[0, 1, 2], [3, 4, 5, 6, 7]]))


def test_embedding_layers_learn_at_half_the_rate(documents, new_head_settings, tmp_path, monkeypatch):
    rates: dict[str, set[float]] = {}
    original = MaskerTrainer.create_optimizer

    def recorded(trainer, model=None):
        optimizer = original(trainer, model)
        names = {id(parameter): name for name, parameter in trainer.model.named_parameters()}
        stage = str(trainer.args.output_dir).rsplit("/", 1)[1]
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                kind = "embeddings" if ".embeddings." in names[id(parameter)] else "rest"
                rates.setdefault(f"{stage} {kind}", set()).add(group["lr"])
        assert sum(len(group["params"]) for group in optimizer.param_groups) == len(names)
        return optimizer

    monkeypatch.setattr(MaskerTrainer, "create_optimizer", recorded)
    train_network(documents, CLASSES, new_head_settings(training={"epochs": 1}), tmp_path)
    assert rates == {
        "vanilla embeddings": {2e-3},
        "vanilla rest": {2e-3},
        "masker embeddings": {1e-3},
        "masker rest": {2e-3},
    }


def test_ablations_switch_views_and_heads(documents, new_head_settings, tmp_path):
    """MKR only, MER only, and augmentation with x~ in the place of reconstruction."""
    cases = {
        "mkr": ({"lambda_mer": 0.0}, True, {"L_CE", "L_MKR"}),
        "mer": ({"lambda_mkr": 0.0}, False, {"L_CE", "L_MER"}),
        "augment": ({"keyword_view": "augment", "lambda_mkr": 1.0}, False, {"L_CE", "L_MKR", "L_MER"}),
    }
    for name, (loss, has_token_head, terms) in cases.items():
        settings = new_head_settings(training={"epochs": 1}, loss=loss, keywords={"source": "frequency"})
        seen: set[str] = set()
        original = MaskerTrainer._remember

        def spy(trainer, values, original=original, seen=seen):
            seen.update(values)
            original(trainer, values)

        MaskerTrainer._remember = spy
        try:
            trained = train_network(documents, CLASSES, settings, tmp_path / name)
        finally:
            MaskerTrainer._remember = original
        assert (trained.network.token_head is not None) == has_token_head, name
        assert seen == terms, name


def test_random_keywords_are_reconstructed_over_the_whole_vocabulary(documents, new_head_settings, tmp_path):
    trained = train_network(
        documents, CLASSES, new_head_settings(training={"epochs": 1}, keywords={"source": "random"}), tmp_path
    )
    assert len(trained.keywords) == 30
    assert trained.network.token_head.out_features == len(trained.tokenizer)


def test_a_corpus_without_any_keyword_trains(documents, new_head_settings, tmp_path):
    """No keyword in any document: MKR is 0, not NaN."""
    words = tmp_path / "words.txt"
    words.write_text("rocketbread\n")
    trained = train_network(
        documents,
        CLASSES,
        new_head_settings(training={"epochs": 1}, keywords={"source": str(words)}),
        tmp_path / "work",
    )
    assert all(torch.isfinite(tensor).all() for tensor in weights(trained).values())


def test_windows_read_all_of_a_long_document(tiny_settings, tmp_path):
    """The class words stand at the end, behind more filler than one row holds."""
    texts, labels = make_corpus(60)
    long = [("the of and we they " * 12) + text for text in texts]
    settings = tiny_settings(
        model={"long_documents": "windows", "max_length": 24},
        training={"method": "vanilla", "epochs": 2},
        detection={"score": "max-prob"},
    )
    model = fit_classifier(Documents(long, None, labels, "long"), settings, tmp_path)
    base = long[0]
    assert len(model.doc_logits(long[:5])) == 5
    assert not np.allclose(model.doc_logits([base]), model.doc_logits([base + " goal goal goal"]))
    assert 0.0 <= model.threshold_ <= 1.0


def test_class_weights_change_training(new_head_settings, tmp_path):
    texts, labels = make_corpus(60)
    keep = [i for i, label in enumerate(labels) if label != "food" or i % 4 == 0]
    data = Documents([texts[i] for i in keep], None, [labels[i] for i in keep], "imbalanced")
    results = [
        weights(
            train_network(
                data,
                CLASSES,
                new_head_settings(training={"method": "vanilla", "epochs": 1}, loss=loss),
                tmp_path / str(n),
            )
        )
        for n, loss in enumerate(({}, {"class_weights": "balanced"}))
    ]
    assert not torch.equal(results[0]["classifier.weight"], results[1]["classifier.weight"])


def test_the_best_checkpoint_is_kept(documents, new_head_settings, tmp_path, monkeypatch):
    """When the first epoch validates best, its weights are the result."""
    from masker.training import validation_metric as module

    scores = iter([0.9, 0.5, 0.4, 0.9])
    monkeypatch.setattr(module, "accuracy", lambda true, predicted: next(scores))
    saved: list[torch.Tensor] = []
    original = MaskerTrainer._save_checkpoint

    def keep(trainer, model, trial):
        saved.append(trainer.model.classifier.state_dict()["classifier.weight"].clone())
        original(trainer, model, trial)

    monkeypatch.setattr(MaskerTrainer, "_save_checkpoint", keep)
    trained = train_network(
        documents, CLASSES, new_head_settings(training={"method": "vanilla", "epochs": 3}), tmp_path
    )
    torch.testing.assert_close(weights(trained)["classifier.weight"], saved[0], rtol=0, atol=0)
    assert not torch.equal(saved[0], saved[2])


def test_logs_reach_the_integrations_of_the_trainer(documents, new_head_settings, tmp_path):
    from transformers import TrainerCallback

    from masker.training import trainer as module

    lines: list[dict[str, float]] = []

    class Recorder(TrainerCallback):
        def on_log(self, args, state, control, logs=None, **kwargs):
            lines.append(dict(logs))

    original = module.MaskerTrainer.__init__

    def with_recorder(self, *args, **kwargs):
        original(self, *args, **kwargs)
        self.add_callback(Recorder())

    module.MaskerTrainer.__init__ = with_recorder
    try:
        train_network(documents, CLASSES, new_head_settings(keywords={"source": "frequency"}), tmp_path)
    finally:
        module.MaskerTrainer.__init__ = original
    assert any({"loss", "L_CE", "L_MKR", "L_MER", "learning_rate"} <= line.keys() for line in lines)
    assert any("eval_accuracy" in line for line in lines)
    json.dumps(lines)


def test_an_integration_that_is_not_installed_is_named(documents, new_head_settings, tmp_path):
    from masker import ConfigError

    with pytest.raises(ConfigError, match=r"training.report_to: 'no-such-board' is not installed"):
        train_network(documents, CLASSES, new_head_settings(training={"report_to": ["no-such-board"]}), tmp_path)
