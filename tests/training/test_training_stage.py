"""A stage: which views it needs, what it starts from, and what it leaves behind."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from masker.config import Settings
from masker.documents import Documents
from masker.keywords import Keyword, KeywordSet
from masker.modeling.backbone import load_tokenizer
from masker.modeling.network import MaskerNetwork
from masker.training import training_stage as module
from masker.training.run import TrainingRun
from masker.training.schedule import Schedule
from masker.training.training_stage import TrainingStage, make_views
from tests.conftest import make_corpus

KEYWORDS = KeywordSet("frequency", (Keyword("moon", (7,), 1.0),), 220)


@pytest.fixture(scope="module")
def tokenizer(tiny_backbones):
    return load_tokenizer(tiny_backbones["bert"])


@pytest.mark.parametrize(
    ("mkr", "mer", "head", "views"),
    [
        (0.1, 0.1, "one-vs-rest", (True, True)),
        (0.1, 0.0, "one-vs-rest", (True, False)),
        (0.0, 0.1, "multi-class", (False, True)),
        (0.0, 0.0, "one-vs-rest", None),
        (0.1, 0.1, "regression", (True, False)),
        (0.0, 0.1, "regression", None),
    ],
)
def test_views_that_the_losses_need(tiny_settings, tokenizer, mkr, mer, head, views):
    settings = tiny_settings(loss={"lambda_mkr": mkr, "lambda_mer": mer}, model={"head": head})
    found = make_views(settings, KEYWORDS, tokenizer)
    assert (None if found is None else (found.keyword_view, found.context_view)) == views
    assert make_views(settings, None, tokenizer) is None, "no keywords, no masks"
    assert make_views(settings, KeywordSet("frequency", (), 220), tokenizer) is None


def test_views_are_drawn_as_the_settings_say(tiny_settings, tokenizer):
    masking = {"keyword_mask_prob": 0.3, "context_mask_prob": 0.7, "context": "drop"}
    found = make_views(tiny_settings(masking=masking, training={"seed": 9}), KEYWORDS, tokenizer)
    assert (found.keyword_mask_prob, found.context_mask_prob, found.context, found.seed) == (0.3, 0.7, "drop", 9)
    assert found.mask_id == tokenizer.mask_token_id and found.keywords is KEYWORDS


def checkpoint(folder, step, whole=True):
    path = folder / f"checkpoint-{step}"
    path.mkdir(parents=True)
    if whole:
        (path / "trainer_state.json").write_text("{}")


def test_a_stage_starts_from_its_newest_whole_checkpoint(tmp_path):
    assert module._open_stage(tmp_path / "new") is None
    assert (tmp_path / "new").is_dir()
    for step, whole in ((8, True), (16, True), (24, False)):
        checkpoint(tmp_path, step, whole)
    assert module._open_stage(tmp_path) == "checkpoint-16"
    assert sorted(path.name for path in tmp_path.glob("checkpoint-*")) == ["checkpoint-16", "checkpoint-8"], (
        "the torn one is gone, the best so far may be an older one"
    )


def test_torn_checkpoints_alone_are_no_start(tmp_path):
    checkpoint(tmp_path, 8, whole=False)
    assert module._open_stage(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_finished_stage_keeps_its_result_only(tmp_path):
    checkpoint(tmp_path, 8)
    network = torch.nn.Linear(2, 2)
    module._close_stage(tmp_path, network, {"step": [1], "L_CE": [0.5]})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["losses.json", "result.safetensors"]
    assert module._open_stage(tmp_path) == "result.safetensors"


def test_each_process_draws_its_own_dropout_from_the_seed(tiny_settings, monkeypatch):
    def draw(rank):
        monkeypatch.setattr(module.distributed, "rank", lambda: rank)
        monkeypatch.setattr(module.distributed, "is_first", lambda: rank == 0)
        torch.manual_seed(0)
        module._seed_dropout(tiny_settings())
        return torch.rand(3).tolist()

    torch.manual_seed(0)
    plain = torch.rand(3).tolist()
    assert draw(0) == plain, "one process alone draws as without a launcher"
    assert draw(1) == draw(1)
    assert len({tuple(draw(rank)) for rank in range(3)}) == 3


def test_a_finished_stage_is_read_back_and_not_trained(tiny_settings, tmp_path, monkeypatch):
    texts, labels = make_corpus(30)
    settings: Settings = tiny_settings(training={"method": "vanilla", "epochs": 1}, detection={"calibration": "split"})
    run = TrainingRun(Documents(texts, None, labels, "made up"), ["food", "space", "sport"], settings, tmp_path)
    stage = TrainingStage("vanilla", Schedule(epochs=1))

    def train():
        return module.train_stage(
            stage, run.classifier_with_new_head(), run.tokenizer, run.data, settings, tmp_path / "vanilla", run.device
        )

    network, validation = train()
    monkeypatch.setattr(module.MaskerTrainer, "train", lambda *args, **kwargs: pytest.fail("trained again"))
    again, same = train()
    assert isinstance(again, MaskerNetwork) and not again.training
    assert same == validation and list(validation) == ["accuracy"]
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_attention_becomes_uniform_where_it_is_regularized(tiny_settings, tmp_path, family):
    """The term falls to a fraction when it counts; the network is left as it was found."""
    texts, labels = make_corpus(48)
    documents, found = Documents(texts, None, labels, "made up"), {}
    for weight in (10.0, 1e-9):
        settings: Settings = tiny_settings(
            family,
            training={"method": "vanilla", "epochs": 8, "head_start": "new"},
            detection={"calibration": "split"},
            loss={"lambda_attention": weight},
        )
        run = TrainingRun(documents, ["food", "space", "sport"], settings, tmp_path / str(weight), "cpu")
        backend = run.fit_network()
        assert backend.classifier.config._attn_implementation == "sdpa"
        found[weight] = run.loss_curves()["vanilla"]["L_attn"]
    assert found[10.0][-1] < 0.5 * found[1e-9][-1]


def test_any_word_is_reconstructed_over_the_whole_vocabulary(tiny_settings, tmp_path):
    texts, labels = make_corpus(48)
    settings: Settings = tiny_settings(
        training={"epochs": 6, "head_start": "new"},
        detection={"calibration": "split"},
        keywords={"source": "random", "random_share": 0.15},
        loss={"lambda_mkr": 1.0},
        masking={"view_share": 1.0},
    )
    run = TrainingRun(Documents(texts, None, labels, "made up"), ["food", "space", "sport"], settings, tmp_path, "cpu")
    backend = run.fit_network(keywords=run.find_keywords())
    assert backend.weights().tensors["token_head.weight"].shape[0] == len(run.tokenizer)
    losses = run.loss_curves()["masker"]["L_MKR"]
    assert np.isfinite(losses).all() and losses[-1] < losses[0]
