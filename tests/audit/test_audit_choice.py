"""Which words become keywords."""

from __future__ import annotations

import json

import numpy as np
import pytest

from masker.audit.answers import ask, occlude
from masker.audit.choice import (
    attention_keyword_scores,
    best_of_each_class,
    find_keywords,
    frequency_keyword_scores,
    given_keywords,
    given_words,
)
from masker.audit.model import as_audited, open_model
from masker.audit.words import Vocabulary
from masker.config import AuditSettings
from masker.documents import Documents
from masker.errors import ConfigError, DataError
from masker.keywords import Keyword, KeywordSet
from masker.keywords.choice import token_word
from tests.audit.conftest import CLASSES, TOPICS

WEIGHTS = {word: {name: 4.0} for name, words in TOPICS.items() for word in words}


@pytest.fixture
def asked(bag_of_words, topic_documents):
    """A model that adds up topic words, asked about documents: (model, answers, vocabulary)."""

    def build(words=WEIGHTS, documents=topic_documents, **settings):
        model = as_audited(*bag_of_words(words))
        vocabulary = Vocabulary()
        return model, ask(model, documents, CLASSES, vocabulary, AuditSettings(**settings)), vocabulary

    return build


def by_class(chosen, vocabulary):
    return {name: {vocabulary.words[word] for word in chosen.of_class(place)} for place, name in enumerate(CLASSES)}


def test_a_word_alone_is_hidden_wherever_it_stands(asked):
    """The model is sure of space by 3 rockets at weight 1; without them all classes are equal: the drop is p − 1/3."""
    documents = Documents(["rocket the rocket of rocket", "soup"], None, ["space", "food"], "d")
    model, answered, vocabulary = asked({"rocket": {"space": 1.0}, "soup": {"food": 1.0}}, documents)
    sure = np.exp(3) / (np.exp(3) + 2)
    assert answered.confidences[0] == pytest.approx(sure)
    wanted = np.zeros((3, len(vocabulary)), dtype=bool)
    wanted[:, [vocabulary.find("rocket"), vocabulary.find("the")]] = True
    found = occlude(model, answered, wanted)
    assert [vocabulary.words[word] for word in found.words] == ["rocket", "the"]
    assert found.rows.tolist() == [0, 0]
    assert found.drops == pytest.approx([sure - 1 / 3, 0.0], abs=1e-6)
    assert found.flipped.tolist() == [True, False], "of equal classes the first is taken, which is food"


def test_nothing_to_try_is_no_error(asked):
    model, answered, vocabulary = asked()
    found = occlude(model, answered, np.zeros((3, len(vocabulary)), dtype=bool))
    assert len(found.rows) == len(found.drops) == len(found.flipped) == 0


def test_occlusion_finds_what_the_model_uses_and_nothing_else(asked):
    """The model knows space by 'rocket' and 'moon' alone; the data has six more such words, which it ignores."""
    used = {"rocket": {"space": 5.0}, "moon": {"space": 5.0}, "soup": {"food": 5.0}, "ball": {"sport": 5.0}}
    model, answered, vocabulary = asked(used)
    chosen = find_keywords(model, answered, vocabulary, AuditSettings(per_class=4))
    assert by_class(chosen, vocabulary) == {"food": {"soup"}, "space": {"rocket", "moon"}, "sport": {"ball"}}
    assert (np.diff(chosen.classes) >= 0).all() and (chosen.scores > 0).all()


def test_frequency_reads_the_labels_of_the_data(asked):
    _, answered, vocabulary = asked({})
    chosen = best_of_each_class(frequency_keyword_scores(answered, len(vocabulary)), 8)
    assert by_class(chosen, vocabulary) == {name: set(TOPICS[name]) for name in CLASSES}


@pytest.mark.parametrize("scheme", ["frequency", "occlusion"])
def test_a_word_of_too_few_documents_is_no_keyword(asked, scheme):
    """'moon' stands in one document alone, twice."""
    texts = ["rocket", "rocket", "moon moon rocket", "soup", "soup", "soup"]
    documents = Documents(texts, None, ["space"] * 3 + ["food"] * 3, "d")
    model, answered, vocabulary = asked(documents=documents)
    for least, words in ((1, {"rocket", "moon"}), (2, {"rocket"})):
        settings = AuditSettings(keywords=scheme, minimum_documents=least, per_class=5)
        chosen = find_keywords(model, answered, vocabulary, settings)
        assert by_class(chosen, vocabulary)["space"] == words


def test_pieces_of_words_in_a_saved_set_are_no_keywords(asked, tmp_path):
    model, answered, vocabulary = asked()
    [rocket] = model.tokenizer.encode("rocket", add_special_tokens=False)
    piece = next(token for token in range(len(model.tokenizer)) if token_word(model.tokenizer, token)[:2] == "##")
    rows = [Keyword(token_word(model.tokenizer, token), (token,), 1.0) for token in (piece, rocket)]
    path = tmp_path / "keywords.json"
    path.write_text(KeywordSet("attention", tuple(rows), len(model.tokenizer)).dumps())
    chosen = given_keywords(given_words(str(path), model.tokenizer), answered, vocabulary)
    assert by_class(chosen, vocabulary) == {"food": set(), "space": {"rocket"}, "sport": set()}


def test_a_word_belongs_to_the_class_with_its_highest_score():
    chosen = best_of_each_class(np.array([[3.0, 1.0, -np.inf], [4.0, 0.5, 0.0]]), 5)
    assert chosen.words.tolist() == [1, 0] and chosen.classes.tolist() == [0, 1]
    assert chosen.scores.tolist() == [1.0, 4.0], "word 2 has no score above 0"


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_attention_is_summed_over_words_without_stop_words(tiny_classifiers, topic_documents, family):
    """Over one document Eq. 2 gives each word its attention divided by the norm, pieces of a word averaged."""
    model = open_model(str(tiny_classifiers[family]))
    vocabulary = Vocabulary()
    answered = ask(model, topic_documents.take(range(12)), CLASSES, vocabulary, AuditSettings())
    scores = attention_keyword_scores(model, answered, vocabulary)
    assert scores.shape == (3, len(vocabulary))
    seen = np.isfinite(scores).any(axis=0)
    words = {vocabulary.words[word] for word in np.flatnonzero(seen)}
    assert not words & {"the", "and", "with"} and words & {word for topic in TOPICS.values() for word in topic}
    absent = set(range(3)) - set(answered.predicted.tolist())
    assert not np.isfinite(scores[sorted(absent)]).any()


def test_attention_of_texts_without_a_word(tiny_classifiers):
    model, vocabulary = open_model(str(tiny_classifiers["bert"])), Vocabulary()
    texts = Documents(["!!!", "rocket", "..."], None, ["space", "space", "food"], "d")
    answered = ask(model, texts, CLASSES, vocabulary, AuditSettings())
    scores = attention_keyword_scores(model, answered, vocabulary)
    assert np.isfinite(scores).sum() == 1, "one word, in the class that the model gives"


def test_a_model_without_document_token_has_no_attention_to_read(asked):
    model, answered, vocabulary = asked()
    model.tokenizer.mask_token = None
    with pytest.raises(ConfigError, match="occlusion, frequency or a file"):
        attention_keyword_scores(model, answered, vocabulary)


@pytest.mark.parametrize("form", ["lines", "json"])
def test_given_words_go_to_the_class_that_has_them(asked, tmp_path, form):
    model, answered, vocabulary = asked()
    words = ["Rocket", "soup", "stadium", "unheard"] if form == "lines" else ["Rocket", "soup", "stadium"]
    path = tmp_path / "words"
    path.write_text("\n".join(words[:3]) if form == "lines" else json.dumps(words))
    chosen = given_keywords(given_words(str(path), model.tokenizer), answered, vocabulary)
    assert by_class(chosen, vocabulary) == {"food": {"soup"}, "space": {"rocket"}, "sport": {"stadium"}}


def test_given_words_that_cannot_be_used(asked, tmp_path):
    model, answered, vocabulary = asked()
    phrase, absent = tmp_path / "phrase", tmp_path / "absent"
    phrase.write_text("rocket launch")
    absent.write_text("lunch")
    with pytest.raises(ConfigError, match="single words; got 'rocket launch'"):
        given_keywords(given_words(str(phrase), model.tokenizer), answered, vocabulary)
    with pytest.raises(DataError, match="no document has any of the 1 keywords"):
        given_keywords(given_words(str(absent), model.tokenizer), answered, vocabulary)
    with pytest.raises(ConfigError, match="occlusion, attention, frequency, a file of words or a model folder"):
        given_keywords(given_words("oclusion", model.tokenizer), answered, vocabulary)
