"""What masking does to the answers, of many keywords and of one at a time."""

from __future__ import annotations

import numpy as np
import pytest

from masker.audit import audit
from masker.audit.audit_keywords import ChosenKeywords
from masker.audit.measuring import keyword_effects, measure, shares_of
from masker.audit.occlusion import occlude
from masker.audit.words import count_words
from masker.config import AuditSettings
from masker.documents import Documents

QUICK = AuditSettings(per_class=8, resamples=100)


def test_shares_hold_on_average_and_never_shrink():
    """Of 3 keywords a quarter is 0.75: none for draws below 0.25, one otherwise."""
    assert shares_of(3, [0.25, 0.5, 1.0], 0.2) == [0, 1, 3]
    assert shares_of(3, [0.25, 0.5, 1.0], 0.9) == [1, 2, 3]
    draws = np.linspace(0, 1, 1000, endpoint=False)
    assert np.mean([shares_of(3, [0.25], draw)[0] for draw in draws]) == pytest.approx(0.75, abs=0.01)
    assert shares_of(0, [0.5, 1.0], 0.9) == [0, 0]


def test_flips_show_the_word_in_its_text(bag_of_words):
    """Without 'rocket' the only word that counts is 'soup': space becomes food."""
    long = "so it was and then it was again " * 20
    texts = [f"{long}a soup <b>near</b> the Rocket & the rest {long}"] * 40
    weights = {"rocket": {"space": 3.0}, "soup": {"food": 1.0}, "ball": {"sport": 1.0}}
    documents = Documents([*texts, *["a ball"] * 40], None, ["space"] * 40 + ["sport"] * 40, "d")
    classifier, tokenizer = bag_of_words(weights)
    tokenizer.model_max_length = 512
    found = audit(classifier, tokenizer, documents, settings=QUICK, max_length=512)
    flip = found.flips["space"][0]
    assert (flip.word, flip.answer, flip.answer_without, flip.label) == ("rocket", "space", "food", "space")
    assert flip.before.startswith("…") and flip.before.endswith("a soup <b>near</b> the ")
    assert flip.after.startswith(" & the rest") and flip.after.endswith("…")
    assert len(flip.before + flip.after) < 210
    assert flip.spelled == "Rocket"
    assert len(found.flips["space"]) == 3, "as many examples as asked for"


def test_examples_are_of_different_keywords_first(bag_of_words):
    """Every flip by 'rocket' is larger than any by 'moon', yet the second example is one by 'moon'."""
    weights = {"rocket": {"space": 4.0}, "moon": {"space": 2.0}, "soup": {"food": 1.0}}
    texts = ["soup rocket"] * 20 + ["soup moon"] * 20 + ["soup"] * 20
    documents = Documents([f"{text} {'so ' * n}" for n, text in enumerate(texts)], None, ["space"] * 60, "d")
    classifier, tokenizer = bag_of_words(weights)
    found = audit(classifier, tokenizer, documents, settings=QUICK, max_length=512)
    assert [flip.word for flip in found.flips["space"]] == ["rocket", "moon", "rocket"]


def flags(vocabulary, *words):
    chosen = np.zeros(len(vocabulary), dtype=bool)
    chosen[[vocabulary.find(word) for word in words]] = True
    return chosen


def test_views_by_hand(answered_topics):
    """'rocket' at weight 2 is the keyword, 'moon' at weight 1 the only other content word.

    whole 3, bare keyword 2, bare random word 1, empty 0, keyword masked 1, random word masked 2: the probability of
    space is e^z / (e^z + 2) each time. 'the' is a stop word, so the control is 'moon' whatever the draw.
    """
    documents = Documents(["the rocket the moon the"] * 3, None, ["space", "space", "food"], "d")
    weights = {"rocket": {"space": 2.0}, "moon": {"space": 1.0}}
    model, answered, vocabulary = answered_topics(weights, documents)
    done = []
    found = measure(
        model,
        answered,
        flags(vocabulary, "rocket"),
        flags(vocabulary, "the"),
        AuditSettings(shares=(1.0,)),
        done.append,
    )
    views = ["whole", "bare keywords", "bare random", "empty", "keywords 1", "random 1"]
    assert found.views == views and found.shares == [1.0] and done == [3]
    sums = np.array([3.0, 2.0, 1.0, 0.0, 1.0, 2.0])
    expected = np.exp(sums) / (np.exp(sums) + 2)
    assert found.confidence == pytest.approx(np.tile(expected, (3, 1)))
    assert found.keyword_count.tolist() == [1, 1, 1] and found.word_count.tolist() == [5, 5, 5]
    assert found.figures("whole").accuracy == pytest.approx(2 / 3), "the third label is food"
    assert found.figures("empty").accuracy == pytest.approx(1 / 3), "of equal classes the first wins, which is food"
    assert found.confidences().random_masked == pytest.approx([expected[5]] * 3)


def test_the_effect_of_a_keyword_by_hand(answered_topics):
    """'rocket' at weight 2 is in two documents: alone, where it flips to food, and beside 'moon' at weight 1.

    Alone the drop is p(2) − 1/3, beside 'moon' p(3) − p(1), with p(z) = e^z / (e^z + 2). 'moon' loses p(3) − p(2).
    """
    documents = Documents(["rocket", "rocket moon"], None, ["space", "space"], "d")
    model, answered, vocabulary = answered_topics({"rocket": {"space": 2.0}, "moon": {"space": 1.0}}, documents)
    effects = occlude(model, answered, np.ones((3, 2), dtype=bool))
    chosen = ChosenKeywords(np.array([1, 0]), np.array([1, 1]), np.array([5.0, 4.0]))
    counts = count_words([documents], vocabulary)
    found = keyword_effects(chosen, ["food", "space", "sport"], effects, vocabulary, counts)
    one, two, three = (np.exp(z) / (np.exp(z) + 2) for z in (1, 2, 3))
    rocket, moon = two - 1 / 3 + three - one, three - two
    first, second = found["space"]
    assert found["food"] == found["sport"] == []
    assert (first.word, first.score, first.documents, first.flips) == ("rocket", 4.0, 2, 1)
    assert (second.word, second.score, second.documents, second.flips) == ("moon", 5.0, 1, 0)
    assert (first.drop, second.drop) == pytest.approx((rocket / 2, moon))
    assert first.carried == pytest.approx(rocket / (rocket + moon))
    assert first.per_million == pytest.approx(2e6 / 3, abs=0.1) and first.per_million_other is None
