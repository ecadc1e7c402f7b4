"""Keywords of a training set, by hand and by the attention of a classifier."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from masker import ConfigError
from masker.documents.encoding import encode
from masker.inference.torch_backend import visit_attention
from masker.modeling.backbone import load_classifier, load_tokenizer
from masker.training import keyword_stage
from masker.training.keyword_stage import (
    attention_scores_of,
    choose_keywords,
    content_token_counts,
    load_attention_model,
)
from tests.conftest import make_corpus

FIXTURES = Path(__file__).parents[1] / "fixtures"
CLASSES = ["food", "space", "sport"]


@pytest.fixture(scope="module")
def tokenizer(tiny_backbones):
    return load_tokenizer(tiny_backbones["bert"])


@pytest.fixture(scope="module")
def classifier(tiny_backbones):
    torch.manual_seed(0)
    return load_classifier(tiny_backbones["bert"], num_labels=3).eval()


@pytest.fixture(scope="module")
def train(tokenizer):
    texts, labels = make_corpus(45)
    return encode(tokenizer, texts, None, 32, labels=np.array([CLASSES.index(label) for label in labels]))


def no_classifier():
    pytest.fail("no attention was asked for")


def test_counts_by_hand(tokenizer):
    encoded = encode(tokenizer, ["moon moon soup", "soup goal"], None, 32)
    counts = content_token_counts(tokenizer, encoded, np.array([0, 1]), 2)
    moon, soup, goal = (tokenizer.convert_tokens_to_ids(word) for word in ("moon", "soup", "goal"))
    assert counts[:, [moon, soup, goal]].tolist() == [[2, 1, 0], [0, 1, 1]]
    assert counts.sum() == 5, "special tokens are left out"


def test_a_random_scheme_needs_no_classifier(tiny_settings, tokenizer, train):
    settings = tiny_settings(keywords={"source": "random", "per_class": 4})
    found = choose_keywords(settings, tokenizer, train, 3, no_classifier)
    assert (found.source, len(found)) == ("random", 12)
    assert found == choose_keywords(settings, tokenizer, train, 3, no_classifier)
    other = tiny_settings(keywords={"source": "random", "per_class": 4}, training={"seed": 1})
    assert found != choose_keywords(other, tokenizer, train, 3, no_classifier)


def test_frequency_finds_the_words_of_each_class(tiny_settings, tokenizer, train):
    settings = tiny_settings(keywords={"source": "frequency", "per_class": 3, "class_balanced": True})
    words = choose_keywords(settings, tokenizer, train, 3, no_classifier).words
    assert len(words) == 9
    fillers = {"the", "a", "of", "and", "we", "they", "saw", "found", "near", "old", "new", "very", "with", "was"}
    assert not fillers & set(words)


def test_count_overrides_per_class_and_too_many_are_refused(tiny_settings, tokenizer, train):
    settings = tiny_settings(keywords={"source": "frequency", "count": 5})
    assert len(choose_keywords(settings, tokenizer, train, 3, no_classifier)) == 5
    with pytest.raises(ConfigError, match="at most"):
        choose_keywords(tiny_settings(keywords={"source": "frequency", "count": 9999}), tokenizer, train, 3, None)


def test_words_of_a_file_are_taken(tiny_settings, tokenizer, train, tmp_path):
    (tmp_path / "words.txt").write_text("rocket\nbread\n")
    settings = tiny_settings(keywords={"source": str(tmp_path / "words.txt")})
    assert choose_keywords(settings, tokenizer, train, 3, no_classifier).words == ["rocket", "bread"]


def test_a_regression_has_no_classes_to_compare(tiny_settings, tokenizer, train):
    settings = tiny_settings(model={"head": "regression"}, keywords={"source": "frequency"})
    with pytest.raises(ConfigError, match="frequency keywords compare classes and a regression has none"):
        choose_keywords(settings, tokenizer, train, 0, no_classifier)


def test_attention_is_read_off_the_classifier(tiny_settings, tokenizer, train, classifier):
    """Eq. 2 document by document: a token's mean attention, as a share of the norm, summed over its documents."""
    found = choose_keywords(tiny_settings(keywords={"count": 6}), tokenizer, train, 3, lambda: classifier)
    assert found.source == "attention"
    expected: dict[int, float] = {}

    def visit(token_ids, attention, content, rows):
        for ids, weights, kept in zip(token_ids.numpy(), attention.double().numpy(), content.numpy(), strict=True):
            ids, weights = ids[kept], weights[kept] / np.linalg.norm(weights[kept])
            for token in set(ids.tolist()):
                expected[token] = expected.get(token, 0.0) + weights[ids == token].mean()

    visit_attention(classifier, tokenizer, train, visit)
    best = sorted(expected.values(), reverse=True)[:6]
    assert [keyword.score for keyword in found] == pytest.approx(best)
    for keyword in found:
        assert keyword.score == pytest.approx(expected[keyword.token_ids[0]])


def test_attention_is_summed_class_by_class(tokenizer, train, classifier):
    together = attention_scores_of(classifier, tokenizer, train, train.labels, 3)
    alone = [
        attention_scores_of(classifier, tokenizer, train.take(rows), np.zeros(len(rows), dtype=np.int64), 1)
        for rows in (np.flatnonzero(train.labels == index).tolist() for index in range(3))
    ]
    for index, one in enumerate(alone):
        np.testing.assert_allclose(together.class_attention_scores()[index], one.class_attention_scores()[0], rtol=1e-5)


def test_processes_read_a_share_each(tokenizer, train, classifier, monkeypatch):
    """Each of two processes reads every other document; their sums are those of one."""
    whole = attention_scores_of(classifier, tokenizer, train, train.labels, 3)
    monkeypatch.setattr(keyword_stage.distributed, "world_size", lambda: 2)
    monkeypatch.setattr(keyword_stage.distributed, "all_reduce", lambda tensor: tensor)
    read = []
    for rank in (0, 1):
        monkeypatch.setattr(keyword_stage.distributed, "rank", lambda rank=rank: rank)
        scores = attention_scores_of(classifier, tokenizer, train, train.labels, 3)
        read.append(scores)
    for name, tensor in vars(whole).items():
        if isinstance(tensor, torch.Tensor):
            torch.testing.assert_close(vars(read[0])[name] + vars(read[1])[name], tensor)


def test_reading_in_bf16_follows_the_device(tiny_settings, tokenizer, train, classifier, monkeypatch):
    asked = []
    monkeypatch.setattr(keyword_stage, "reads_bf16", lambda precision, device: asked.append((precision, device)) or 0)
    settings = tiny_settings(keywords={"count": 3}, training={"precision": "auto"})
    choose_keywords(settings, tokenizer, train, 3, lambda: classifier)
    assert asked == [("auto", classifier.device)]


def test_a_given_model_is_opened_on_the_device():
    assert load_attention_model(str(FIXTURES / "masker-bert"), torch.device("meta")).device.type == "meta"


def test_a_model_without_attention_is_refused():
    folder = FIXTURES / "linear-roberta"
    with pytest.raises(
        ConfigError, match=r"keywords.attention_model: '.*linear-roberta' \(method .*\) has no attention"
    ):
        load_attention_model(str(folder), torch.device("cpu"))


def test_any_word_is_a_keyword(tiny_settings, tokenizer, train):
    settings = tiny_settings(keywords={"source": "random", "random_share": 0.15})
    chosen = choose_keywords(settings, tokenizer, train, 3, no_classifier)
    assert len(chosen) == 0 and chosen.target_ids.tolist() == list(range(len(tokenizer))), "the whole vocabulary"
