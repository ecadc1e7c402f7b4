"""The figures of the paper as numbers."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from masker.analysis import paper_figures
from masker.analysis.paper_figures import Subject
from masker.config import build_settings
from masker.documents import Documents
from masker.documents.encoding import encode
from masker.errors import ConfigError
from masker.inference.outputs import Outputs
from masker.modeling.backbone import load_tokenizer
from tests.experiments.conftest import TESTS


def test_rates_are_shares_of_tokens(tiny_backbones, monkeypatch):
    """With the attention replaced: 'rocket' is the keyword of space, 'soup' that of food.

    In the target class food "soup soup bread rocket" has 4 tokens: soup 50 %, rocket 25 %. In space "rocket moon": 50 %
    and none.
    """
    tokenizer = load_tokenizer(tiny_backbones["bert"])
    model = SimpleNamespace(tokenizer=tokenizer, max_length=16, settings=build_settings())
    ids = {word: tokenizer.convert_tokens_to_ids(word) for word in ("rocket", "soup", "bread", "moon")}
    assert tokenizer.unk_token_id not in ids.values()
    scores = np.full((2, len(tokenizer)), -np.inf)
    scores[0, ids["soup"]], scores[1, ids["rocket"]] = 1.0, 1.0
    monkeypatch.setattr(Subject, "read_attention", lambda *args: SimpleNamespace(class_attention_scores=lambda: scores))
    train = Documents(["soup", "rocket"], None, ["food", "space"], "train")
    target = Documents(["soup soup", "bread rocket", "rocket moon"], None, ["food", "food", "space"], "target")
    found = paper_figures.class_keyword_rates(Subject(model, train, {"t": target}), per_class=1)
    assert found["keywords"] == {"food": ["soup"], "space": ["rocket"]}
    assert found["rates"] == {
        "food": {"t: food": 50.0, "t: space": 0.0},
        "space": {"t: food": 25.0, "t: space": 50.0},
    }


def test_heatmap(analysed):
    outcome, text = analysed("heatmap", per_class=2)
    rates = outcome.summary["analysis"][0]["rates"]
    assert set(rates) == {"space", "food", "sport", "dinner"}
    assert set(rates["food"]) == {f"known: {name}" for name in rates} | {"foreign: food", "foreign: space"}
    assert "| known: food" in text and "among the tokens" in text
    assert (outcome.folder / "figure.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_tsne_places_every_document_and_tells_how_far_sets_are_apart(analysed):
    outcome, text = analysed("tsne", perplexity=5.0)
    result = next(iter(outcome.results.values()))["result"]
    assert {name: np.array(points).shape for name, points in result["points"].items()} == {
        "known": (32, 2),
        "foreign": (24, 2),
    }
    assert -1 <= result["silhouette"] <= 1 and f"{result['silhouette']:.3f}" in text
    assert "points" not in json.dumps(outcome.summary), "no per-document data in a summary"
    assert (outcome.folder / "figure.svg").is_file()


def test_tsne_silhouette_is_high_for_sets_apart_and_low_for_one_set_cut_in_two(tiny_backbones):
    """Embeddings replaced: points around (0, 0) and (10, 10), then all around one point."""
    draw = np.random.default_rng(0)
    sets = {name: Documents(["soup"] * 20, None, ["food"] * 20, name) for name in ("one", "other")}

    def silhouette(offset):
        parts = [draw.normal(size=(20, 2)), draw.normal(size=(20, 2)) + offset]
        outputs = (Outputs(None, {"cls": part}) for part in parts)
        backend = SimpleNamespace(predict_outputs=lambda encoded: next(outputs))
        model = SimpleNamespace(tokenizer=load_tokenizer(tiny_backbones["bert"]), max_length=16, backend=backend)
        return paper_figures.embed_in_plane(Subject(model, sets["one"], sets), perplexity=5.0)["silhouette"]

    assert silhouette(10.0) > 0.7
    assert abs(silhouette(0.0)) < 0.1


def test_attended_words(analysed):
    outcome, text = analysed("attention", count=5, sets={"foreign": TESTS["foreign"]})
    lists = outcome.summary["analysis"][0]["words"]["foreign"]
    assert all(len(lists[kind]) == 5 for kind in ("sum", "mean"))
    assert lists["sum"][0]["score"] > lists["sum"][4]["score"] > 0
    assert lists["mean"][0]["word"] in text


def test_mean_attention_is_the_sum_over_documents_with_the_word(tiny_backbones, monkeypatch):
    """'moon' has score 3 from 3 documents, 'soup' 2 from 1, 'bread' 2.4 from 2: by sum moon, bread, soup; by mean of
    words in at least two documents bread (1.2), moon (1.0)."""
    tokenizer = load_tokenizer(tiny_backbones["bert"])
    documents = Documents(["moon moon", "moon bread", "moon bread soup"], None, ["x"] * 3, "d")
    scores = np.full(len(tokenizer), -np.inf)
    for word, score in (("moon", 3.0), ("soup", 2.0), ("bread", 2.4)):
        scores[tokenizer.convert_tokens_to_ids(word)] = score
    monkeypatch.setattr(Subject, "read_attention", lambda *args: SimpleNamespace(attention_scores=lambda: scores))
    assert len(encode(tokenizer, documents.texts, None, 16)) == 3
    subject = Subject(SimpleNamespace(tokenizer=tokenizer, max_length=16), documents, {"d": documents})
    found = paper_figures.attended_words(subject, count=2)["words"]["d"]
    assert [row["word"] for row in found["sum"]] == ["moon", "bread"]
    assert [(row["word"], row["score"]) for row in found["mean"]] == [("bread", 1.2), ("moon", 1.0)]


def test_keyword_lists_side_by_side(analysed):
    systems = {
        name: {"title": name, "settings": {"training": {"method": "masker"}, "keywords": {"source": name}}}
        for name in ("frequency", "attention")
    }
    outcome, text = analysed("keywords", systems=systems)
    lists = {row["system"]: row["keywords"] for row in outcome.summary["analysis"]}
    assert all(len(words) == 8 for words in lists.values())
    assert ", ".join(lists["frequency"]) in text


def test_tsne_needs_two_sets():
    documents = Documents(["soup"], None, ["food"], "one")
    with pytest.raises(ConfigError, match="needs two sets of documents; the recipe names 1"):
        paper_figures.embed_in_plane(Subject(None, documents, {"one": documents}))


def test_a_method_without_attention_is_refused():
    documents = Documents(["soup"], None, ["food"], "one")
    model = SimpleNamespace(settings=build_settings({"training": {"method": "doc"}}), backend=None)
    with pytest.raises(ConfigError, match="a model of method doc has none"):
        Subject(model, documents, {}).read_attention(None, None, 1)
