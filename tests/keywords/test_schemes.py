"""The registry of keyword schemes: the built-in ones, and one from outside the package."""

import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest
import torch

from masker.errors import ConfigError
from masker.keywords import Keyword, KeywordSet
from masker.keywords.attention import AttentionScores
from masker.keywords.choice import select_keywords
from masker.keywords.frequency import class_frequency_scores, frequency_scores
from masker.keywords.keyword_files import read_keywords
from masker.keywords.random import random_scores
from masker.keywords.scheme import Evidence, scheme_scores
from masker.registry import KEYWORD_SCHEMES

COUNTS = np.array([[2, 4, 1, 0], [1, 0, 1, 3]])


@pytest.fixture
def plug_in(monkeypatch):
    """The registry with a plug-in installed whose entry point is :mod:`tests.keywords.rare_scheme`."""
    entry_point = EntryPoint("rare", "tests.keywords.rare_scheme", "masker.keywords")
    before = dict(KEYWORD_SCHEMES.items())
    monkeypatch.setattr(KEYWORD_SCHEMES, "_entries", before)
    monkeypatch.setattr(KEYWORD_SCHEMES, "_filled", False)
    monkeypatch.setattr(
        "masker.registry.entry_points", lambda group: [entry_point] if group == "masker.keywords" else []
    )
    monkeypatch.delitem(sys.modules, "tests.keywords.rare_scheme", raising=False)
    return KEYWORD_SCHEMES


def test_built_in_schemes():
    assert list(KEYWORD_SCHEMES)[:3] == ["attention", "frequency", "random"]
    flags = {
        name: [scheme.reads_attention, scheme.compares_classes, scheme.by_class, scheme.whole_vocabulary]
        for name, scheme in KEYWORD_SCHEMES.items()
    }
    assert flags["attention"] == [True, False, True, False]
    assert flags["frequency"] == [False, True, True, False]
    assert flags["random"] == [False, False, False, True]


def test_frequency_is_equation_1_of_the_counts():
    scheme, evidence = KEYWORD_SCHEMES.get("frequency"), Evidence(lambda: COUNTS)
    np.testing.assert_array_equal(scheme.scores(evidence), frequency_scores(COUNTS))
    own = scheme.class_scores(evidence)
    np.testing.assert_array_equal(own[COUNTS > 0], class_frequency_scores(COUNTS)[COUNTS > 0])
    assert np.isneginf(own[COUNTS == 0]).all(), "a class chooses only among its own tokens"


def test_random_depends_on_the_seed_of_the_evidence():
    scheme = KEYWORD_SCHEMES.get("random")
    scores = scheme.scores(Evidence(lambda: COUNTS, seed=3))
    np.testing.assert_array_equal(scores, random_scores(COUNTS, 3))
    np.testing.assert_array_equal(scheme.class_scores(Evidence(lambda: COUNTS, seed=3)), scores[None])
    assert (scores != scheme.scores(Evidence(lambda: COUNTS, seed=4))).any()


def test_attention_is_equation_2_of_the_sums():
    """Class 0 has token 1 with (3, 4) / 5: 3/5; class 1 nothing."""
    sums = AttentionScores(2, 4)
    everywhere = torch.ones(1, 2, dtype=torch.bool)
    sums.update(torch.tensor([[1, 2]]), torch.tensor([[3.0, 4.0]]), everywhere, torch.tensor([0]))
    scheme, evidence = KEYWORD_SCHEMES.get("attention"), Evidence(lambda: COUNTS, lambda: sums)
    assert scheme.scores(evidence) == pytest.approx([-np.inf, 0.6, 0.8, -np.inf])
    assert scheme.class_scores(evidence)[1] == pytest.approx([-np.inf] * 4)


def test_an_unknown_scheme_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"attention, frequency, random.*'freqency'.*Did you mean 'frequency'"):
        KEYWORD_SCHEMES.get("freqency")


# --- a scheme from outside -------------------------------------------------------------------------------------------


def test_a_plug_in_is_found_by_name_and_selects_keywords(plug_in, wordpiece):
    """Counts of apple, tree, watch in two classes: (3, 1, 0) and (0, 2, 5). Rarest: tree with 1, then apple with 3."""
    apple, tree, watch = wordpiece.convert_tokens_to_ids(["apple", "tree", "watch"])
    counts = np.zeros((2, len(wordpiece)), dtype=np.int64)
    counts[0, [apple, tree]], counts[1, [tree, watch]] = [3, 1], [2, 5]
    scores = scheme_scores(plug_in.get("rare"), Evidence(lambda: counts))
    keywords = select_keywords("rare", scores, 2, wordpiece)
    assert [(keyword.word, keyword.score) for keyword in keywords] == [("tree", -1.0), ("apple", -3.0)]
    assert keywords.source == "rare"
    assert list(plug_in) == ["attention", "frequency", "random", "rare"]


def test_a_plug_in_decides_what_the_token_head_predicts(plug_in, monkeypatch):
    chosen = (Keyword("a", (4,), 1.0), Keyword("b", (1,), 0.5))
    np.testing.assert_array_equal(KeywordSet("rare", chosen, 6).target_ids, np.arange(6))
    monkeypatch.setattr(plug_in.get("rare"), "whole_vocabulary", False)
    np.testing.assert_array_equal(KeywordSet("rare", chosen, 6).target_ids, [1, 4])


def test_a_set_of_a_scheme_that_is_not_installed_has_the_keyword_vocabulary():
    saved = KeywordSet("rare", (Keyword("a", (4,), 1.0),), 6)
    assert "rare" not in KEYWORD_SCHEMES
    np.testing.assert_array_equal(KeywordSet.from_json(saved.to_json()).target_ids, [4])


def test_a_missing_file_names_every_scheme(plug_in, wordpiece):
    with pytest.raises(ConfigError, match=r"attention, frequency, random, rare, or a file.*'rar'.*mean 'rare'\?"):
        read_keywords("rar", wordpiece)


def test_a_broken_plug_in_is_named(plug_in, monkeypatch):
    broken = EntryPoint("broken", "tests.keywords.no_such_module", "masker.keywords")
    monkeypatch.setattr("masker.registry.entry_points", lambda group: [broken])
    with pytest.raises(ConfigError, match=r"'broken'.*no_such_module"):
        plug_in.get("frequency")


def test_two_schemes_cannot_share_a_name(plug_in):
    with pytest.raises(ConfigError, match="'frequency'"):
        plug_in.add("frequency", object())
