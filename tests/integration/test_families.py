"""The whole method on every family of encoders: BERT, RoBERTa (byte-level BPE), ALBERT (unigram)."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from masker import Documents, MaskerClassifier
from masker.documents.encoding import encode
from masker.masking.collator import Collator
from masker.modeling.backbone import load_backbone
from masker.modeling.tokens import special_ids_of
from masker.training.training_stage import make_views
from tests.conftest import FAMILIES, fit_classifier, make_corpus, train_network

families = pytest.mark.parametrize("family", FAMILIES)


def documents(count: int = 90, seed: int = 0) -> Documents:
    texts, labels = make_corpus(count, seed)
    return Documents(texts, None, labels, "made up")


@pytest.fixture(scope="module")
def trained(new_head_settings, tmp_path_factory):
    """A MASKER model with attention keywords for each family, trained for epochs."""
    results = {}

    def get(family: str):
        if family not in results:
            settings = new_head_settings(
                family,
                # MPNet's attention has positions to learn, too.
                training={"epochs": 30 if family == "mpnet" else 20},
                loss={"lambda_mkr": 0.02, "lambda_mer": 0.05},
            )
            work = tmp_path_factory.mktemp(family)
            results[family] = fit_classifier(documents(240), settings, work)
        return results[family]

    return get


class _record_losses:
    """Collects the log lines of the trainers that run inside."""

    def __enter__(self):
        from masker.training.trainer import MaskerTrainer

        self.history, self.original = [], MaskerTrainer.log

        def log(trainer, logs, start_time=None):
            self.original(trainer, logs, start_time)
            self.history.append(trainer.state.log_history[-1])

        MaskerTrainer.log = log
        return self.history

    def __exit__(self, *error):
        from masker.training.trainer import MaskerTrainer

        MaskerTrainer.log = self.original


@families
def test_keywords_are_chosen_by_attention(trained, family):
    model = trained(family)
    keywords = model.keywords_
    assert keywords.source == "attention"
    assert len(keywords) == 30  # 10 for each of the three classes
    special = set(model.model_.tokenizer.all_special_ids)
    assert not special & {token for keyword in keywords for token in keyword.token_ids}
    scores = [keyword.score for keyword in keywords]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


@families
def test_views_differ_where_they_should_and_nowhere_else(trained, tiny_settings, family):
    """x~ differs from x at keywords only, x^ at context only; special and padding tokens stay in both."""
    model = trained(family)
    settings = tiny_settings(family, masking={"context": "mask", "view_share": 1.0})
    tokenizer = model.model_.tokenizer
    views = make_views(settings, model.keywords_, tokenizer)
    collator = Collator(tokenizer.pad_token_id, sorted(special_ids_of(tokenizer)), views)
    texts, _ = make_corpus(12, seed=5)
    encoded = encode(tokenizer, texts, None, 32)
    batch = {name: tensor.numpy() for name, tensor in collator([encoded[row] for row in range(12)]).items()}
    x = batch["input_ids"][:12]
    owner, view = batch["document_of_row"], batch["view_of_row"]
    content = collator.content(x) & batch["attention_mask"][:12].astype(bool)
    keyword = model.keywords_.find(x) & content
    assert keyword.any() and (content & ~keyword).any()

    x_tilde, source = batch["input_ids"][view == 1], x[owner[view == 1]]
    changed = x_tilde != source
    assert changed.any(axis=1).all(), "every keyword-masked row has a masked keyword"
    assert (x_tilde[changed] == tokenizer.mask_token_id).all()
    assert not (changed & ~keyword[owner[view == 1]]).any()
    rows, columns = batch["masked_rows"], batch["masked_columns"]
    assert np.array_equal(np.argwhere(changed), np.stack([rows - 12, columns], axis=1))
    assert np.array_equal(model.keywords_.target_ids[batch["keyword_labels"]], x[owner[rows], columns]), (
        "targets name the masked tokens"
    )

    x_hat = batch["input_ids"][view == 2]
    changed = x_hat != x
    assert len(x_hat) == 12
    assert (x_hat[changed] == tokenizer.mask_token_id).all()
    assert not (changed & ~(content & ~keyword)).any()
    assert 0.75 < changed.sum() / (content & ~keyword).sum() <= 1.0  # q = 0.9


@families
def test_dropping_the_context_keeps_the_same_tokens_as_masking_it(trained, tiny_settings, family):
    """x^ by ``drop`` is x^ by ``mask`` without its mask tokens, padded with the padding id."""
    model = trained(family)
    tokenizer = model.model_.tokenizer
    texts, _ = make_corpus(12, seed=5)
    encoded = encode(tokenizer, texts, None, 32)
    batches = {}
    for context in ("mask", "drop"):
        masking = {"context": context, "view_share": 1.0}
        views = make_views(tiny_settings(family, masking=masking), model.keywords_, tokenizer)
        collator = Collator(tokenizer.pad_token_id, sorted(special_ids_of(tokenizer)), views)
        batches[context] = collator([encoded[row] for row in range(12)])
    masked = batches["mask"]["input_ids"][batches["mask"]["view_of_row"] == 2]
    dropped, inside = batches["drop"]["context_input_ids"], batches["drop"]["context_attention_mask"].bool()
    assert not (batches["drop"]["view_of_row"] == 2).any()
    assert inside.sum() < (masked != tokenizer.pad_token_id).sum()
    for row in range(12):
        kept = masked[row][(masked[row] != tokenizer.mask_token_id) & (masked[row] != tokenizer.pad_token_id)]
        assert dropped[row][inside[row]].tolist() == kept.tolist()
    assert (dropped[~inside] == tokenizer.pad_token_id).all()


@families
def test_training_with_dropped_context(new_head_settings, family, tmp_path):
    settings = new_head_settings(family, masking={"context": "drop"}, keywords={"source": "frequency"})
    with _record_losses() as history:
        train_network(documents(45), ["food", "space", "sport"], settings, tmp_path)
    values = [line["L_MER"] for line in history if "L_MER" in line]
    assert values
    assert np.isfinite(values).all()


@families
def test_the_three_losses_fall(new_head_settings, family, tmp_path):
    """Keywords by frequency are the words of the topics, which the rest of a text tells; fillers could not be told."""
    settings = new_head_settings(
        family,
        keywords={"source": "frequency"},
        training={"epochs": 30 if family == "mpnet" else 20, "logging_steps": 1},
        loss={"lambda_mkr": 0.2, "lambda_mer": 0.05},
    )
    with _record_losses() as history:
        train_network(documents(240), ["food", "space", "sport"], settings, tmp_path)
    steps = [line for line in history if "L_MKR" in line]
    for name in ("L_CE", "L_MKR", "L_MER"):
        values = [line[name] for line in steps]
        assert all(np.isfinite(values))
        # A step's MKR is a sum over as many keywords as happen to be masked: compare whole epochs, not steps.
        share = len(values) // 10
        # MER starts near 0 (a new head is unsure) and rises before it falls: compare with its highest point.
        first = max(values) if name == "L_MER" else np.mean(values[:share])
        assert np.mean(values[-share:]) < first, (name, values)


@families
def test_it_learns_the_task(trained, family):
    model = trained(family)
    texts, labels = make_corpus(60, seed=9)
    # Chance is 1/3; the tiny ALBERT, whose two layers share their weights, learns least.
    assert model.score(texts, labels) > (0.5 if family == "albert" else 0.8)


@families
def test_save_and_load_give_the_same_outputs(trained, family, tmp_path):
    model = trained(family)
    model.save(tmp_path / "model")
    again = MaskerClassifier.load(tmp_path / "model")
    texts, _ = make_corpus(20, seed=3)
    np.testing.assert_array_equal(again.doc_logits(texts), model.doc_logits(texts))
    assert again.predict_texts(texts) == model.predict_texts(texts)
    assert again.keywords_ == model.keywords_
    assert again.threshold_ == model.threshold_
    assert sorted(again.get_params()) == sorted(model.get_params())


HEADS = ("one-vs-rest", "multi-class")
#: Family, head and pooling; ALBERT cannot carry the mean.
PIPED = [(family, head, "document-token") for family in FAMILIES for head in HEADS]
PIPED += [(family, head, "mean") for family in ("bert", "roberta") for head in HEADS]


@pytest.fixture(scope="module")
def piped(tiny_settings, tmp_path_factory):
    """Ours and theirs for each case; theirs from one process that never imports masker.

    The temperature of the confidence is ours alone, so it is left out.
    """
    folder, texts, ours = tmp_path_factory.mktemp("piped"), make_corpus(6, seed=4)[0], {}
    for case in PIPED:
        family, head, pooling = case
        sections = {
            "model": {"head": head, "pooling": pooling},
            "training": {"epochs": 1},
            "keywords": {"source": "frequency"},
            # One is the mean of its folds, as by default; the others take one training instead of five.
            "detection": {
                "calibrate_confidence": False,
                "calibration": "cross-fit" if case == ("bert", "multi-class", "mean") else "split",
            },
        }
        name = "-".join(case)
        model = fit_classifier(documents(45), tiny_settings(family, **sections), folder / f"{name}.work")
        model.save(folder / name)
        ours[name] = model.predict_texts(texts)
    script = (
        "import sys, json\n"
        "from transformers import pipeline\n"
        "def run(name):\n"
        f"    model = {str(folder)!r} + '/' + name\n"
        f"    return pipeline('text-classification', model=model, device='cpu', truncation=True)({texts!r})\n"
        f"print(json.dumps({{name: run(name) for name in {list(ours)!r}}}))\n"
        "assert not any(name.split('.')[0] == 'masker' for name in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout.splitlines()[-1])
    return {name: (ours[name], theirs[name]) for name in ours}


@pytest.mark.parametrize("case", PIPED, ids="-".join)
def test_the_pipeline_of_transformers_agrees_without_this_package(piped, case):
    """Same labels and scores from a process that never imports masker, whichever way the head reads the tokens."""
    ours, theirs = piped["-".join(case)]
    assert [row["label"] for row in theirs] == [prediction.label for prediction in ours]
    np.testing.assert_allclose(
        [row["score"] for row in theirs], [prediction.confidence for prediction in ours], atol=1e-5
    )


@families
def test_text_pairs(tiny_settings, family, tmp_path):
    """Pairs are encoded as pairs: the second text matters, and special tokens between them are never masked."""
    settings = tiny_settings(family, training={"epochs": 1}, keywords={"source": "frequency"})
    texts, labels = make_corpus(45)
    pairs = make_corpus(45, seed=8)[0]
    data = Documents(texts, pairs, labels, "pairs")
    model = fit_classifier(data, settings, tmp_path)
    one, other = model.doc_logits([(texts[0], pairs[0]), (texts[0], pairs[1])])
    assert not np.allclose(one, other)
    from masker.errors import DataError

    with pytest.raises(DataError, match="pairs of texts"):
        model.predict(["a single text"])


@families
def test_regression_uses_reconstruction_only(tiny_settings, family, tmp_path):
    """For scores the entropy term has no meaning: there is no context view, and keywords are still reconstructed."""
    settings = tiny_settings(family, model={"head": "regression"}, training={"epochs": 2})
    texts, labels = make_corpus(60)
    scores = [float(["space", "food", "sport"].index(label)) for label in labels]
    trained = train_network(Documents(texts, texts, scores, "scores"), [], settings, tmp_path)
    assert trained.network.token_head is not None
    views = make_views(settings, trained.keywords, trained.tokenizer)
    assert views.keyword_view
    assert not views.context_view
    assert len(trained.keywords) == 10
    assert "pearson" in trained.validation


@families
def test_rows_never_exceed_the_position_table(tiny_settings, family):
    backbone = load_backbone(tiny_settings(family, model={"max_length": 512}).model, ["a", "b"])
    assert backbone.max_length == 64
    import torch

    ids = torch.full((1, backbone.max_length), 7)
    assert backbone.classifier(input_ids=ids, attention_mask=torch.ones_like(ids)).logits.shape == (1, 2)
