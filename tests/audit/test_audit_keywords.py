"""Which words become keywords."""

from __future__ import annotations

import json

import numpy as np
import pytest

from masker.audit.audit_keywords import (
    audit_schemes,
    best_words_by_class,
    check_scheme,
    choose_audit_keywords,
    given_keywords,
    given_words,
    scheme_word_scores,
    word_evidence,
)
from masker.audit.audited_model import open_audited_model
from masker.audit.hiding import answer_documents
from masker.audit.words import Vocabulary
from masker.config import AuditSettings
from masker.documents import Documents
from masker.errors import ConfigError, DataError
from masker.keywords import Keyword, KeywordSet
from masker.keywords.choice import token_word
from masker.keywords.scheme import KeywordScheme
from masker.registry import KEYWORD_SCHEMES
from tests.audit.conftest import CLASSES, TOPICS

ATTENTION = AuditSettings(keywords="attention")


def by_class(chosen, vocabulary):
    return {name: {vocabulary.words[word] for word in chosen.of_class(place)} for place, name in enumerate(CLASSES)}


def test_occlusion_finds_what_the_model_uses_and_nothing_else(answered_topics):
    """The model knows space by 'rocket' and 'moon' alone and ignores the six other space words of the data."""
    used = {"rocket": {"space": 5.0}, "moon": {"space": 5.0}, "soup": {"food": 5.0}, "ball": {"sport": 5.0}}
    model, answered, vocabulary = answered_topics(used)
    chosen = choose_audit_keywords(model, answered, vocabulary, AuditSettings(per_class=4))
    assert by_class(chosen, vocabulary) == {"food": {"soup"}, "space": {"rocket", "moon"}, "sport": {"ball"}}
    assert (np.diff(chosen.classes) >= 0).all() and (chosen.scores > 0).all()


def test_frequency_reads_the_labels_of_the_data(answered_topics):
    model, answered, vocabulary = answered_topics({})
    chosen = choose_audit_keywords(model, answered, vocabulary, AuditSettings(keywords="frequency", per_class=8))
    assert by_class(chosen, vocabulary) == {name: set(TOPICS[name]) for name in CLASSES}


@pytest.mark.parametrize("scheme", ["frequency", "occlusion"])
def test_a_word_in_too_few_documents_is_no_keyword(answered_topics, scheme):
    """'moon' occurs twice, but in one document only."""
    texts = ["rocket", "rocket", "moon moon rocket", "soup", "soup", "soup"]
    documents = Documents(texts, None, ["space"] * 3 + ["food"] * 3, "d")
    model, answered, vocabulary = answered_topics(documents=documents)
    for least, words in ((1, {"rocket", "moon"}), (2, {"rocket"})):
        settings = AuditSettings(keywords=scheme, minimum_documents=least, per_class=5)
        chosen = choose_audit_keywords(model, answered, vocabulary, settings)
        assert by_class(chosen, vocabulary)["space"] == words


def test_word_pieces_in_a_saved_set_are_no_keywords(answered_topics, tmp_path):
    model, answered, vocabulary = answered_topics()
    [rocket] = model.tokenizer.encode("rocket", add_special_tokens=False)
    piece = next(token for token in range(len(model.tokenizer)) if token_word(model.tokenizer, token)[:2] == "##")
    rows = [Keyword(token_word(model.tokenizer, token), (token,), 1.0) for token in (piece, rocket)]
    path = tmp_path / "keywords.json"
    path.write_text(KeywordSet("attention", tuple(rows), len(model.tokenizer)).dumps())
    chosen = given_keywords(given_words(str(path), model.tokenizer), answered, vocabulary)
    assert by_class(chosen, vocabulary) == {"food": set(), "space": {"rocket"}, "sport": set()}


def test_a_word_belongs_to_the_class_with_its_highest_score():
    chosen = best_words_by_class(np.array([[3.0, 1.0, -np.inf], [4.0, 0.5, 0.0]]), 5)
    assert chosen.words.tolist() == [1, 0] and chosen.classes.tolist() == [0, 1]
    assert chosen.scores.tolist() == [1.0, 4.0], "word 2 has no score above 0"


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_attention_is_summed_over_words_without_stop_words(tiny_classifiers, topic_documents, family):
    """Over one document Eq. 2 gives each word its attention divided by the norm, pieces of a word averaged."""
    model = open_audited_model(str(tiny_classifiers[family]))
    vocabulary = Vocabulary()
    answered = answer_documents(model, topic_documents.take(range(12)), vocabulary, "drop")
    scores = scheme_word_scores(model, answered, vocabulary, ATTENTION)
    assert scores.shape == (3, len(vocabulary))
    seen = np.isfinite(scores).any(axis=0)
    words = {vocabulary.words[word] for word in np.flatnonzero(seen)}
    assert not words & {"the", "and", "with"} and words & {word for topic in TOPICS.values() for word in topic}
    absent = set(range(3)) - set(answered.predicted.tolist())
    assert not np.isfinite(scores[sorted(absent)]).any()


def test_attention_of_texts_without_a_word(tiny_classifiers):
    model, vocabulary = open_audited_model(str(tiny_classifiers["bert"])), Vocabulary()
    texts = Documents(["!!!", "rocket", "..."], None, ["space", "space", "food"], "d")
    answered = answer_documents(model, texts, vocabulary, "drop")
    scores = scheme_word_scores(model, answered, vocabulary, ATTENTION)
    assert np.isfinite(scores).sum() == 1, "one word, in the predicted class"


def test_a_model_without_document_token_has_no_attention_to_read(answered_topics):
    model, answered, vocabulary = answered_topics()
    check_scheme(model, "attention")
    model.tokenizer.mask_token = None
    with pytest.raises(ConfigError, match="occlusion, frequency or a file"):
        check_scheme(model, "attention")
    for scheme in ("occlusion", "frequency"):
        check_scheme(model, scheme)
    with pytest.raises(ConfigError, match="need a fine-tuned encoder"):
        scheme_word_scores(model, answered, vocabulary, ATTENTION)


@pytest.mark.parametrize("form", ["lines", "json"])
def test_given_words_go_to_the_class_they_are_associated_with(answered_topics, tmp_path, form):
    model, answered, vocabulary = answered_topics()
    words = ["Rocket", "soup", "stadium", "unheard"] if form == "lines" else ["Rocket", "soup", "stadium"]
    path = tmp_path / "words"
    path.write_text("\n".join(words[:3]) if form == "lines" else json.dumps(words))
    chosen = given_keywords(given_words(str(path), model.tokenizer), answered, vocabulary)
    assert by_class(chosen, vocabulary) == {"food": {"soup"}, "space": {"rocket"}, "sport": {"stadium"}}


def test_given_words_that_cannot_be_used(answered_topics, tmp_path):
    model, answered, vocabulary = answered_topics()
    phrase, absent = tmp_path / "phrase", tmp_path / "absent"
    phrase.write_text("rocket launch")
    absent.write_text("lunch")
    with pytest.raises(ConfigError, match="single words; got 'rocket launch'"):
        given_keywords(given_words(str(phrase), model.tokenizer), answered, vocabulary)
    with pytest.raises(DataError, match="none of the 1 keywords occurs"):
        given_keywords(given_words(str(absent), model.tokenizer), answered, vocabulary)
    with pytest.raises(ConfigError, match="occlusion, attention, frequency, a file of words or a model folder"):
        given_keywords(given_words("oclusion", model.tokenizer), answered, vocabulary)


def test_evidence_counts_words_by_the_label_of_the_data(answered_topics):
    """The model calls everything food, the first class; the counts do not care."""
    documents = Documents(["moon moon soup", "soup"], None, ["space", "food"], "d")
    model, answered, vocabulary = answered_topics({}, documents)
    assert vocabulary.words == ["moon", "soup"] and answered.predicted.tolist() == [0, 0]
    assert word_evidence(model, answered, 2).counts.tolist() == [[0, 1], [2, 1], [0, 0]]


class MostFrequent(KeywordScheme):
    """A scheme as a plug-in registers it."""

    name = "most-frequent"

    def class_scores(self, evidence):
        return np.where(evidence.counts > 0, evidence.counts, -np.inf)


def test_a_registered_scheme_finds_keywords(answered_topics, monkeypatch):
    assert audit_schemes() == ["occlusion", "attention", "frequency"], "random does not tell classes apart"
    monkeypatch.setitem(KEYWORD_SCHEMES._entries, MostFrequent.name, MostFrequent())
    assert audit_schemes()[-1] == "most-frequent"
    documents = Documents(["moon moon soup", "soup soup soup", "ball"] * 2, None, ["space", "food", "sport"] * 2, "d")
    model, answered, vocabulary = answered_topics({}, documents)
    check_scheme(model, "most-frequent")
    chosen = choose_audit_keywords(model, answered, vocabulary, AuditSettings(keywords="most-frequent"))
    assert by_class(chosen, vocabulary) == {"food": {"soup"}, "space": {"moon"}, "sport": {"ball"}}
    assert sorted(chosen.scores) == [2.0, 4.0, 6.0]


def test_a_mistyped_scheme_is_suggested(answered_topics):
    model, *_ = answered_topics({})
    for wrong, hint in (("atention", "Did you mean 'attention'"), ("random", "got 'random', which is none of them")):
        with pytest.raises(ConfigError, match=hint):
            given_words(wrong, model.tokenizer)
