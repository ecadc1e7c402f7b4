"""What the Trainer is changed in: its loss by hand, its loaders, its parameter groups, its choice of a checkpoint."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import EvalPrediction

from masker.documents.encoding import encode
from masker.keywords import Keyword, KeywordSet
from masker.masking.collator import Collator
from masker.modeling.backbone import load_backbone
from masker.modeling.network import MaskerNetwork
from masker.modeling.tokens import special_ids_of
from masker.training import trainer as module
from masker.training.loss_terms import loss_terms
from masker.training.schedule import Schedule
from masker.training.trainer import GPU_WORKERS, MaskerTrainer
from masker.training.training_data import TrainingData
from masker.training.training_stage import TrainingStage, make_views
from tests.conftest import make_corpus

CPU = torch.device("cpu")
CLASSES = ["food", "space", "sport"]


@pytest.fixture
def build(tiny_settings, tmp_path):
    """``build(keywords=…, **sections)``: a trainer for 13 documents."""

    def make(keywords=(), bias_logits=None, averaged_share=0.0, **sections):
        settings = tiny_settings("bert", **sections)
        torch.manual_seed(0)
        backbone = load_backbone(settings.model, CLASSES)
        tokenizer = backbone.tokenizer
        ids = [(word, tokenizer.convert_tokens_to_ids(word)) for word in keywords]
        chosen = None
        if keywords:
            chosen = KeywordSet("frequency", tuple(Keyword(word, (i,), 1.0) for word, i in ids), len(tokenizer))
        texts, labels = make_corpus(13)
        values = np.array([CLASSES.index(label) for label in labels])
        if settings.model.head == "regression":
            values = values.astype(np.float32)
        encoded = encode(tokenizer, texts, None, 32, labels=values)
        stage = TrainingStage("stage", Schedule(epochs=1), chosen, bias_logits, averaged_share)
        special = sorted(special_ids_of(tokenizer))
        views = make_views(settings, chosen, tokenizer)
        collator = Collator(tokenizer.pad_token_id, special, views, bias_logits)
        reconstructs = views is not None and views.keyword_view and settings.loss.keyword_view == "reconstruct"
        network = MaskerNetwork(backbone.classifier, len(chosen.target_ids) if reconstructs else 0)
        return MaskerTrainer(network, settings, stage, tmp_path, TrainingData(encoded, encoded), collator, CPU)

    return make


def batch_of(trainer, rows):
    return trainer.collator([trainer.train_dataset[row] for row in rows])


def terms_of(trainer, batch):
    outputs = trainer.model(**{name: batch[name] for name in module._NETWORK_INPUTS if name in batch})
    return loss_terms(batch, outputs, trainer.collator, trainer.settings)


def test_loss_of_plain_documents(build):
    """The sum over documents of the sum over classes of binary cross-entropies, over the documents of the step."""
    trainer = build(training={"method": "vanilla"}, model={"head": "one-vs-rest"})
    trainer.model.train()
    for part in trainer.model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    batch = batch_of(trainer, [0, 4, 5])
    logits = trainer.model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])["doc_logits"]
    probabilities = torch.sigmoid(logits)
    expected = sum(
        -torch.log(probabilities[row, column] if column == label else 1 - probabilities[row, column])
        for row, label in enumerate(batch["labels"].tolist())
        for column in range(3)
    )
    found = trainer.compute_loss(trainer.model, batch, num_items_in_batch=torch.tensor(12))
    torch.testing.assert_close(found, expected / 12)
    torch.testing.assert_close(trainer.compute_loss(trainer.model, batch), expected / 3)


def test_loss_with_views_is_the_weighted_sum_of_its_terms(build):
    words = ["rocket", "moon", "bread", "soup", "goal", "player"]
    trainer = build(words, loss={"lambda_mkr": 0.25, "lambda_mer": 0.5}, masking={"keyword_mask_prob": 1.0})
    trainer.model.eval()
    batch = batch_of(trainer, range(6))
    terms = terms_of(trainer, batch)
    assert set(terms) == {"L_CE", "L_MKR", "L_MER"} and all(values.shape == (6,) for values in terms.values())
    expected = (terms["L_CE"] + 0.25 * terms["L_MKR"] + 0.5 * terms["L_MER"]).mean()
    torch.testing.assert_close(trainer.compute_loss(trainer.model, batch), expected)


@pytest.mark.parametrize("context", ["mask", "drop"])
def test_documents_with_views_count_for_the_others(build, context):
    """Over many epochs the mean loss terms of half of the views, doubled, are those of all views."""
    words = ["rocket", "moon", "bread", "soup", "goal", "player"]
    epochs, means = 400, {}
    for share in (1.0, 0.5):
        trainer = build(words, masking={"view_share": share, "context": context})
        trainer.model.eval()
        sums = dict.fromkeys(("L_CE", "L_MKR", "L_MER"), 0.0)
        for epoch in range(epochs):
            trainer.collator.epoch = epoch
            batch = batch_of(trainer, range(4))
            with torch.inference_mode():
                terms = terms_of(trainer, batch)
            for name in sums:
                sums[name] += terms[name].mean().item() / epochs
        means[share] = sums
    assert means[0.5]["L_CE"] == pytest.approx(means[1.0]["L_CE"], rel=1e-5)
    # A mean over 1,600 draws of twice a fair coin has a standard error of 2.5 %.
    assert means[0.5]["L_MKR"] == pytest.approx(means[1.0]["L_MKR"], rel=0.08)
    assert means[0.5]["L_MER"] == pytest.approx(means[1.0]["L_MER"], rel=0.08)


def test_a_batch_without_views_has_no_regularizer(build):
    """At this share no document of the batch has a view; the loss is that of the documents alone, and no NaN."""
    trainer = build(["rocket", "bread"], masking={"view_share": 1e-9})
    trainer.model.eval()
    batch = batch_of(trainer, range(4))
    terms = terms_of(trainer, batch)
    torch.testing.assert_close(trainer.compute_loss(trainer.model, batch), terms["L_CE"].mean())


def test_bias_is_added_to_the_outputs_and_not_learnt(build):
    bias = np.random.default_rng(0).normal(size=(13, 3)).astype(np.float32)
    plain, biased = build(training={"method": "vanilla"}), build(bias_logits=bias, training={"method": "vanilla"})
    for trainer in (plain, biased):
        trainer.model.eval()
    batch = batch_of(biased, [2, 7])
    assert np.array_equal(batch["bias_logits"].numpy(), bias[[2, 7]])
    assert biased.compute_loss(biased.model, batch) != plain.compute_loss(plain.model, batch_of(plain, [2, 7]))


def test_a_spare_batch_counts_nothing(build):
    """A process without a document in the last batch takes the step with a gradient of 0."""
    trainer = build(training={"method": "vanilla"})
    spare = trainer._collate([])
    full = trainer._collate([trainer.train_dataset[row] for row in (1, 2, 3)])
    assert trainer._get_num_items_in_batch([full, spare], CPU) == 3
    trainer.model.train()
    loss = trainer.compute_loss(trainer.model, spare, num_items_in_batch=torch.tensor(3))
    loss.backward()
    gradients = [p.grad for p in trainer.model.parameters() if p.grad is not None]
    assert loss.item() == 0.0 and gradients and all(not gradient.any() for gradient in gradients)


def test_class_weights(build):
    assert build(training={"method": "vanilla"}).class_weights is None
    # 13 documents: 5 of space, 4 each of food and sport.
    weights = build(training={"method": "vanilla"}, loss={"class_weights": "balanced"}).class_weights
    torch.testing.assert_close(weights, torch.tensor([13 / 12, 13 / 15, 13 / 12]))


def test_uniform_attention_is_added_with_its_weight(build):
    """The n-th of N content tokens gets n / (1 + … + N); special tokens get nothing."""
    trainer = build(training={"method": "vanilla"}, loss={"lambda_attention": 0.5})
    trainer.model.eval()
    batch = batch_of(trainer, [0])
    width = batch["input_ids"].shape[1]
    content = ~np.isin(batch["input_ids"].numpy(), trainer.collator.special_ids)
    row = np.zeros((1, width), dtype=np.float32)
    row[content] = np.arange(1.0, content.sum() + 1)
    share = row[content] / row.sum()
    expected = -np.log(content.sum() * share).mean()
    plain = trainer.compute_loss(trainer.model, batch)
    trainer.model.read_attention = lambda: torch.from_numpy(row)
    torch.testing.assert_close(
        trainer.compute_loss(trainer.model, batch), plain + 0.5 * torch.tensor(expected, dtype=plain.dtype)
    )


def test_validation_figures_by_hand(build):
    trainer = build(training={"method": "vanilla"}, model={"head": "multi-class"})
    logits = np.log(np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.5, 0.25, 0.25]], dtype=np.float32))
    found = trainer._validation_metrics(EvalPrediction(logits, np.array([0, 2, 0])))
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["loss"] == pytest.approx(-(np.log(0.7) + np.log(0.3) + np.log(0.5)) / 3, rel=1e-5)


def test_validation_figures_of_a_regression(build):
    trainer = build(training={"method": "vanilla"}, model={"head": "regression"})
    found = trainer._validation_metrics(EvalPrediction(np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 2.0, 3.0])))
    assert found["pearson"] == pytest.approx(np.corrcoef([1, 2, 4], [1, 2, 3])[0, 1])
    assert found["loss"] == pytest.approx(1 / 3)


def test_a_checkpoint_wins_by_correct_documents_then_by_loss(build, monkeypatch):
    trainer = build(training={"method": "vanilla"})

    def selection(accuracy, loss):
        monkeypatch.setattr(module.Trainer, "evaluate", lambda self: {"eval_accuracy": accuracy, "eval_loss": loss})
        return trainer.evaluate()["eval_selection"]

    assert selection(12 / 13, 9.0) > selection(11 / 13, 0.01)
    assert selection(11 / 13, 0.1) > selection(11 / 13, 0.2)


def test_every_document_once_an_epoch_in_the_order_of_the_sampler(build):
    trainer = build(training={"method": "vanilla", "batch_size": 4})
    labels = [batch["labels"] for batch in trainer.get_train_dataloader()]
    assert sorted(map(len, labels)) == [1, 4, 4, 4]
    assert sorted(torch.cat(labels).tolist()) == sorted(trainer.train_dataset.labels.tolist())


def test_evaluation_sees_documents_alone(build):
    trainer = build(["rocket", "bread"])
    (batch,) = trainer.get_eval_dataloader()
    assert set(batch) == {"input_ids", "attention_mask", "token_type_ids", "labels"} and len(batch["labels"]) == 13


@pytest.mark.parametrize(
    ("kind", "pins", "workers"), [("cpu", False, 0), ("cuda", True, GPU_WORKERS), ("mps", False, 0)]
)
def test_batches_are_pinned_and_made_beside_the_training_on_a_gpu_only(build, monkeypatch, kind, pins, workers):
    trainer = build(training={"method": "vanilla"})
    trainer.args = SimpleNamespace(device=torch.device(kind))
    monkeypatch.setattr(module, "DataLoader", lambda dataset, **options: SimpleNamespace(**options))
    loader = trainer.get_train_dataloader()
    assert (loader.pin_memory, loader.num_workers) == (pins, workers)


def test_averaging_is_on_for_a_share_only(build):
    assert build(training={"method": "vanilla"}).average is None
    assert build(averaged_share=0.25, training={"method": "vanilla"}).average.share == 0.25
