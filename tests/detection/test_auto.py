"""What auto is made of follows from what tells stand-ins from held-out documents, and from nothing else."""

import numpy as np
import pytest

from masker.config import build_settings
from masker.detection import auto as choice
from masker.detection.auto import GUARDS, LEADS, choose, left_out_auroc, views_auroc
from masker.detection.joint import JointScore
from masker.detection.network_scores import LOGIT_SCORES, make_score
from masker.detection.stand_ins import stand_in_documents
from masker.detection.statistics import gather
from masker.documents.encoding import Encoded
from masker.inference.outputs import Outputs
from masker.keywords import Keyword, KeywordSet

SETTINGS = build_settings({"model": {"head": "multi-class"}})
CENTRES = np.array([[6.0, 0, 0, 0], [0, 6.0, 0, 0], [0, 0, 6.0, 0]])


def documents(count, seed, *, shift=0.0, certain=True, style=0.0):
    """Logits that know the class or nothing; features of the classes, moved by ``shift``; style in middle layers."""
    draw = np.random.default_rng(seed)
    labels = np.arange(count) % 3
    logits = 3 * np.eye(3)[labels] * certain + draw.normal(size=(count, 3))
    cls = CENTRES[labels] + draw.normal(size=(count, 4)) + shift * np.array([0, 0, 0, 1.0])
    middle = draw.normal(size=(count, 4)) + style
    features = {"cls": cls.astype(np.float32), "middle": middle.astype(np.float32)}
    return Outputs(logits.astype(np.float32), features), labels


@pytest.fixture(scope="module")
def known():
    train, labels = documents(300, 0)
    return gather([train], labels, 3, ["cls", "middle"], 200, 0)


def chosen(known, **stand_in):
    held_out, labels = documents(90, 1)
    return choose(known, held_out, labels, {"view": documents(90, 2, **stand_in)[0]}, SETTINGS)


def test_a_distance_leads_where_features_tell(known):
    recipe = chosen(known, shift=6.0)
    assert next(iter(recipe.offsets)) == "scaled-mahalanobis"
    assert recipe.evidence["scaled-mahalanobis"]["view"] > 0.99 > recipe.evidence["max-prob"]["view"]


def test_a_logit_score_leads_where_only_logits_tell(known):
    lead = next(iter(chosen(known, certain=False).offsets))
    assert lead in LOGIT_SCORES


def test_the_guard_is_there_where_style_tells(known):
    recipe = chosen(known, shift=2.0, style=5.0)
    lead, guard = recipe.offsets
    assert lead in LEADS and guard in GUARDS and recipe.offsets[lead] == 0.0 < recipe.offsets[guard]
    assert set(recipe.references) == {lead, guard} and all(len(part) == 90 for part in recipe.references.values())
    together = recipe.evidence[f"{lead} + {guard}"]["view"]
    assert together >= recipe.evidence[lead]["view"]


@pytest.mark.parametrize(("style", "offset"), [(1.0, 0.0), (50.0, np.log(20.0))])
def test_with_two_classes_the_guard_may_count_from_the_start(style, offset):
    """A little style is lost below the guard's offset; where it is plain, the offset stays."""

    def two(count, seed, **options):
        outputs, labels = documents(count, seed, **options)
        return Outputs(outputs.logits[:, :2], outputs.features), labels % 2

    train, labels = two(300, 0)
    known = gather([train], labels, 2, ["cls", "middle"], 200, 0)
    held_out, labels = two(90, 1)
    recipe = choose(known, held_out, labels, {"view": two(90, 2, style=style)[0]}, SETTINGS)
    lead, guard = recipe.offsets
    assert recipe.offsets == {lead: 0.0, guard: pytest.approx(offset)}
    assert {f"{lead} + {guard}", f"{lead} + {guard} in full"} <= set(recipe.evidence)


def test_one_way_to_guard_that_is_no_worse_is_enough(monkeypatch):
    """By hand: the lead 0.898, guarded 0.895, guarded in full 0.900. Only the last is no worse than the lead."""

    def told(score, held_out, stand_ins):
        if not isinstance(score, JointScore):
            return {"view": 0.898}
        in_full = all(offset == 0 for _, offset in score._joint._parts.values())
        return {"view": 0.9 if in_full else 0.895}

    monkeypatch.setattr(choice, "views_auroc", told)
    train, labels = documents(300, 0)
    two = Outputs(train.logits[:, :2], train.features)
    known = gather([two], labels % 2, 2, ["cls", "middle"], 200, 0)
    recipe = choose(known, two, labels % 2, {"view": two}, SETTINGS)
    assert len(recipe.offsets) == 2 and set(recipe.offsets.values()) == {0.0}


@pytest.mark.parametrize(("better", "lead"), [(0.015, "scaled-mahalanobis"), (0.025, "mahalanobis")])
def test_distances_that_are_nearly_level_go_by_preference(known, monkeypatch, better, lead):
    def told(score, held_out, stand_ins):
        return {"view": {"scaled-mahalanobis": 0.9, "mahalanobis": 0.9 + better}.get(score.name, 0.5)}

    monkeypatch.setattr(choice, "views_auroc", told)
    monkeypatch.setattr(choice, "left_out_auroc", lambda *args: {})
    held_out, labels = documents(90, 1)
    assert next(iter(choose(known, held_out, labels, {"view": held_out}, SETTINGS).offsets)) == lead


def test_a_guard_that_does_harm_is_left_out(known):
    """Logits tell, and the middle layers of stand-ins are all the same and usual: a guard rejects documents only."""
    held_out, labels = documents(90, 1)
    unsure = documents(90, 2, certain=False)[0]
    usual = np.tile(known.bank["middle"][np.linalg.norm(known.bank["middle"], axis=1).argmin()], (90, 1))
    stand_in = Outputs(unsure.logits, {**unsure.features, "middle": usual})
    recipe = choose(known, held_out, labels, {"view": stand_in}, SETTINGS)
    assert len(recipe.offsets) == 1


def test_left_out_class_by_hand(known):
    """Classes are six standard deviations apart on their own axes: one that nobody knows is far from both others."""
    held_out, labels = documents(90, 1)

    def make(name, of):
        return make_score(name, of, "multi-class", SETTINGS.detection)

    figures = left_out_auroc(known, held_out, labels, ["mahalanobis", "knn"], make)
    assert set(figures) == {"mahalanobis", "knn"} and min(figures.values()) > 0.95
    two = gather([Outputs(held_out.logits[:, :2], held_out.features)], labels % 2, 2, ["cls"], 50, 0)
    assert left_out_auroc(two, Outputs(held_out.logits[:, :2], held_out.features), labels % 2, ["knn"], make) == {}


def test_views_against_pairs(known):
    held_out, _ = documents(30, 1)
    score = make_score("energy", known, "multi-class", SETTINGS.detection)
    other = documents(20, 3, certain=False)[0]
    pairs = score.ood_score(other)[:, None] > score.ood_score(held_out)
    assert views_auroc(score, score.ood_score(held_out), {"x": other}) == {"x": round(pairs.mean(), 4)}


def test_stand_ins_keep_keywords_and_lose_context(tiny_backbones):
    from masker.modeling.backbone import load_tokenizer

    tokenizer = load_tokenizer(tiny_backbones["bert"])
    texts = ["the rocket was near the moon", "we found soup"] * 20
    rows = [np.array(tokenizer(text)["input_ids"], dtype=np.int64) for text in texts]
    encoded = Encoded(rows, None, np.zeros(40, dtype=np.int64), np.arange(40))
    ids = tokenizer.convert_tokens_to_ids(["rocket", "soup"])
    words = ("rocket", "soup")
    chosen = tuple(Keyword(word, (token,), 1.0) for word, token in zip(words, ids, strict=True))
    keywords = KeywordSet("user", chosen, len(tokenizer))
    views = stand_in_documents(encoded, keywords, tokenizer, SETTINGS.masking, 0)
    assert set(views) == {"context masked", "keywords only"}
    masked = views["context masked"].input_ids
    assert all(
        np.isin(before, ids).sum() == np.isin(after, ids).sum() for before, after in zip(rows, masked, strict=True)
    )
    share = np.mean([(row == tokenizer.mask_token_id).sum() / (len(row) - 3) for row in masked])
    assert 0.8 < share < 1.0  # q = 0.9 of what is neither special nor a keyword
    assert tokenizer.decode(views["keywords only"].input_ids[0], skip_special_tokens=True) == "rocket"
    assert set(stand_in_documents(encoded, None, tokenizer, SETTINGS.masking, 0)) == {"context masked"}
