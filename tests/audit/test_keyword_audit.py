"""The audit from start to finish, on models with a known reliance."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from transformers import GPT2Config, GPT2ForSequenceClassification

from masker.audit import audit, audit_model, compare_audits, open_audited_model
from masker.audit.audited_model import as_audited
from masker.config import AuditSettings
from masker.documents import Documents
from masker.errors import ConfigError, DataError, MaskerError, ModelError
from masker.modeling.backbone import load_tokenizer
from tests.audit.conftest import CLASSES, TOPICS, WEIGHTS
from tests.conftest import _FILLER, FAMILIES

QUICK = AuditSettings(per_class=8, resamples=100)


@pytest.mark.parametrize("masking", ["drop", "mask"])
@pytest.mark.parametrize("kind", ["single_label_classification", "multi_label_classification"])
def test_a_model_of_keywords_alone_has_reliance_one(bag_of_words, topic_documents, masking, kind):
    """It sums topic words: bare keywords are as good as the text, a text without them is no better than none."""
    settings = QUICK.model_copy(update={"masking": masking})
    found = audit(*bag_of_words(WEIGHTS, problem_type=kind), topic_documents, settings=settings)
    assert found.reliance.reliance.value == pytest.approx(1.0, abs=1e-6)
    assert found.with_keywords == 1.0 and found.whole.accuracy == 1.0
    assert found.bare_keywords.confidence == pytest.approx(found.whole.confidence, abs=1e-6)
    assert found.curve[-1].random.confidence == pytest.approx(found.whole.confidence, abs=1e-6)
    assert found.curve[-1].keywords.confidence == pytest.approx(found.empty.confidence, abs=1e-6)
    falling = [found.whole.confidence, *(point.keywords.confidence for point in found.curve)]
    assert (np.diff(falling) < 0).all()
    assert {row.word for row in found.keywords["space"]} == set(TOPICS["space"])
    assert sum(row.carried for rows in found.keywords.values() for row in rows) == pytest.approx(1.0)


def test_a_model_that_ignores_the_text_has_reliance_zero(bag_of_words, topic_documents):
    found = audit(*bag_of_words({}), topic_documents, settings=QUICK)
    assert found.reliance.reliance.value == found.reliance.reliance.high == 0.0
    assert found.with_keywords == 0.0 and found.flips == {}
    json.dumps(found.to_json(), allow_nan=False)


def alike(bag_of_words):
    """A model to which every content and filler word is evidence for one class."""
    tokenizer = bag_of_words({})[1]
    words = [*(word for topic in TOPICS.values() for word in topic), *_FILLER]
    whole = [word for word in words if len(tokenizer.encode(word, add_special_tokens=False)) == 1]
    return bag_of_words({word: {"food": 0.2} for word in whole})


def test_a_model_that_uses_every_word_alike_has_low_reliance(bag_of_words, topic_documents):
    found = audit(*alike(bag_of_words), topic_documents, settings=QUICK)
    assert found.reliance.reliance.value < 0.25


def test_keywords_are_found_and_measured_on_different_documents(bag_of_words, topic_documents):
    found = audit(*bag_of_words(WEIGHTS), topic_documents, settings=QUICK.model_copy(update={"documents": 101}))
    assert (found.documents, found.keyword_documents) == (51, 50)


def test_given_keywords_are_measured_on_all_documents(bag_of_words, topic_documents, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("\n".join(TOPICS["space"]))
    settings = QUICK.model_copy(update={"keywords": str(path)})
    found = audit(*bag_of_words(WEIGHTS), topic_documents, settings=settings)
    assert (found.documents, found.keyword_documents) == (240, 0)
    assert found.with_keywords == pytest.approx(1 / 3)
    assert 0.2 < found.reliance.reliance.value < 0.5, "a third of the documents depends on them"


def test_the_same_seed_gives_the_same_audit_and_pairs_with_itself(bag_of_words, topic_documents):
    weak = {word: {name: 0.5} for name, words in TOPICS.items() for word in words[:4]}
    one, again = (audit(*bag_of_words(weak), topic_documents, settings=QUICK) for _ in range(2))
    left, right = ({**found.to_json(), "provenance": None} for found in (one, again))
    assert left == right
    same = compare_audits(one, again, resamples=50).difference.reliance
    assert same.value == same.low == same.high == 0.0


def test_a_comparison_says_which_model_relies_more(bag_of_words, topic_documents):
    strong = audit(*bag_of_words(WEIGHTS), topic_documents, settings=QUICK, name="strong")
    weak = audit(*alike(bag_of_words), topic_documents, settings=QUICK, name="weak")
    difference = compare_audits(strong, weak, resamples=100).difference.reliance
    assert 0 < difference.low <= difference.value <= difference.high
    other = audit(*bag_of_words(WEIGHTS), topic_documents.take(range(100)), settings=QUICK)
    with pytest.raises(DataError, match="different documents"):
        compare_audits(strong, other)


def test_keywords_are_counted_in_another_corpus(bag_of_words, topic_documents):
    """In the other corpus 'rocket' is 2 of 8 words, and half of the 4 words of its class news."""
    other = Documents(["rocket rocket of the", "soup of the day"], None, ["news", "menu"], "other")
    found = audit(*bag_of_words(WEIGHTS), topic_documents, settings=QUICK, other=other)
    [rocket] = [row for row in found.keywords["space"] if row.word == "rocket"]
    assert rocket.per_million_other == 250_000.0 and rocket.per_million > 0
    assert set(found.rates["space"]) == {*(f"topics: {name}" for name in CLASSES), "other: menu", "other: news"}
    assert found.rates["space"]["other: news"] == 50.0 and found.rates["space"]["other: menu"] == 0.0
    assert found.rates["food"]["other: menu"] == 25.0
    unlabelled = Documents(["rocket of the day"], None, None, "/a/folder/plain.csv")
    found = audit(*bag_of_words(WEIGHTS), topic_documents, settings=QUICK, other=unlabelled)
    assert found.rates["space"]["plain.csv: all"] == 25.0
    same = Documents(["rocket of the day"], None, None, "elsewhere/topics")
    found = audit(*bag_of_words(WEIGHTS), topic_documents, settings=QUICK, other=same)
    assert found.rates["space"]["topics (2): all"] == 25.0 and "topics (1): space" in found.rates["space"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("masking", ["drop", "mask"])
def test_folders_of_plain_transformers(tiny_classifiers, topic_documents, family, masking):
    model = open_audited_model(str(tiny_classifiers[family]))
    assert model.name == family and model.head == "multi-class"
    settings = AuditSettings(masking=masking, documents=60, resamples=20)
    found = audit_model(model, topic_documents, settings=settings)
    assert 0.0 <= found.reliance.reliance.low <= found.reliance.reliance.high <= 1.0
    assert found.to_json()["documents"] == 30
    assert found.max_length == 64, "what the encoder's positions allow"


def test_a_decoder_without_mask_token(tiny_backbones, topic_documents):
    """Words can be dropped; masking them, or reading the attention of a document token, is refused."""
    tokenizer = load_tokenizer(tiny_backbones["roberta"])
    tokenizer.mask_token = None
    names = dict(enumerate(CLASSES))
    shape = {"n_positions": 64, "n_embd": 16, "n_layer": 1, "n_head": 2, "num_labels": 3, "id2label": names}
    classifier = GPT2ForSequenceClassification(
        GPT2Config(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **shape)
    )
    settings = AuditSettings(documents=40, resamples=20)
    found = audit(classifier, tokenizer, topic_documents, settings=settings)
    assert found.max_length == 64 and 0.0 <= found.reliance.reliance.value <= 1.0
    for wrong in ({"masking": "mask"}, {"keywords": "attention"}):
        with pytest.raises(ConfigError, match="must be"):
            audit(classifier, tokenizer, topic_documents, settings=settings.model_copy(update=wrong))


def test_a_model_of_pairs_is_not_audited_on_single_texts(bag_of_words, topic_documents):
    model = replace(as_audited(*bag_of_words(WEIGHTS)), pairs=True)
    with pytest.raises(DataError, match="was trained on text pairs; topics has single texts"):
        audit_model(model, topic_documents, settings=QUICK)


def test_pairs_of_texts(bag_of_words, topic_documents):
    texts = topic_documents.texts
    pairs = Documents(["the old"] * len(texts), texts, topic_documents.labels, "pairs")
    found = audit(*bag_of_words(WEIGHTS), pairs, settings=QUICK)
    assert found.reliance.reliance.value == pytest.approx(1.0, abs=1e-6)


def test_rows_are_not_computed_twice(bag_of_words, topic_documents):
    """A document without keywords has 2 views, whole and empty, not 12."""
    classifier, tokenizer = bag_of_words({})
    audit(classifier, tokenizer, topic_documents, settings=QUICK)
    assert classifier.rows <= 2 * 240 + 120 + 1


def test_no_more_texts_are_read_than_documented(bag_of_words, topic_documents):
    """docs/audit.md: 1 + 5 x 2 texts for each of 60 documents, 13 + 3 x 2 for each of the other 60."""
    classifier, tokenizer = bag_of_words(WEIGHTS)
    settings = AuditSettings(per_class=2, documents=120, resamples=20)
    audit(classifier, tokenizer, topic_documents, settings=settings)
    assert 120 < classifier.rows <= 60 * (1 + 10) + 60 * (13 + 6)


def test_models_and_data_that_cannot_be_audited(bag_of_words, topic_documents, tiny_backbones, tmp_path):
    refused: list[tuple[type[MaskerError], str, object]] = [
        (ModelError, "predicts a score", lambda: audit(*bag_of_words({}, ["score"]), topic_documents)),
        (ModelError, "no trained classification head", lambda: open_audited_model(tiny_backbones["bert"])),
        (ModelError, "neither a model folder nor", lambda: open_audited_model(str(tmp_path / "absent"))),
        (DataError, "at least 2 documents", lambda: audit(*bag_of_words({}), topic_documents.take([0]))),
        (DataError, "'sport' is not among", lambda: audit(*bag_of_words({}, ["food", "space"]), topic_documents)),
        (DataError, "--labels must give", lambda: audit(*bag_of_words({}), topic_documents, labels=["a"])),
        (ConfigError, "got 'nothing', which is none of them", lambda: audit(
            *bag_of_words({}), topic_documents, settings=AuditSettings(keywords="nothing"))),
    ]  # fmt: skip
    for kind, words, call in refused:
        with pytest.raises(kind, match=words) as error:
            call()
        assert "\n" not in str(error.value)
