"""The collator: padding, views, and the pointers to the masked keywords."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from masker.keywords import Keyword, KeywordSet
from masker.losses.masked_entropy import entropy_loss
from masker.losses.reconstruction import reconstruction_loss
from masker.masking import collator as collator_module
from masker.masking.collator import Collator, Views

PAD, CLS, SEP, MASK = 0, 1, 2, 3
SPECIAL = [PAD, CLS, SEP, MASK]
KEYWORDS = KeywordSet("frequency", (Keyword("k", (7,), 2.0), Keyword("l", (5,), 1.0)), 12)

DOCUMENTS = [
    [CLS, 7, 8, 5, SEP],  # keywords at 1 and 3
    [CLS, 8, 9, SEP],  # none
    [CLS, 9, 9, 7, 10, 9, SEP],  # keyword at 3
]


def features(documents=DOCUMENTS, labels=(0, 1, 1), types=False, rows=None):
    return [
        {
            "input_ids": np.array(ids, dtype=np.int64),
            "token_type_ids": np.array([0, *[1] * (len(ids) - 1)], dtype=np.int64) if types else None,
            "label": None if labels is None else labels[place],
            "row": place if rows is None else rows[place],
        }
        for place, ids in enumerate(documents)
    ]


def views(p=1.0, q=1.0, keyword_view=True, context_view=True, keywords=KEYWORDS, seed=0, context="mask"):
    return Views(keywords, MASK, p, q, seed, keyword_view, context_view, context)


# --- padding ---------------------------------------------------------------------------------------------------------


def test_pads_to_the_longest_row_of_the_batch():
    batch = Collator(PAD, SPECIAL)(features(DOCUMENTS[:2], labels=(0, 1)))
    assert batch["input_ids"].tolist() == [[CLS, 7, 8, 5, SEP], [CLS, 8, 9, SEP, PAD]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 1, 0]]
    assert set(batch) == {"input_ids", "attention_mask", "labels"}
    assert batch["input_ids"].dtype == batch["attention_mask"].dtype == torch.int64


def test_padding_uses_the_tokenizers_own_id_and_zero_for_token_types():
    batch = Collator(11, [1, 2, 11])(features(DOCUMENTS[:2], labels=None, types=True))
    assert batch["input_ids"][1].tolist() == [CLS, 8, 9, SEP, 11]
    assert batch["token_type_ids"].tolist() == [[0, 1, 1, 1, 1], [0, 1, 1, 1, 0]]
    assert "labels" not in batch


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        ((0, 1, 2), torch.int64),
        (tuple(np.array([0, 1, 2])), torch.int64),
        ((0.5, 1.0, 2.5), torch.float32),
        (tuple(np.array([0.5, 1.0, 2.5])), torch.float32),
    ],
)
def test_label_types(labels, dtype):
    batch = Collator(PAD, SPECIAL)(features(labels=labels))
    assert batch["labels"].dtype == dtype
    assert batch["labels"].tolist() == pytest.approx(list(labels))


def test_content_excludes_special_tokens():
    content = Collator(PAD, SPECIAL).content(np.array([[CLS, 7, SEP, PAD, MASK, 9]]))
    np.testing.assert_array_equal(content, [[False, True, False, False, False, True]])


# --- views -----------------------------------------------------------------------------------------------------------


def test_all_views_by_hand():
    """p = q = 1. Rows: 3 documents, then x~ of documents 0 and 2 (document 1 has no keyword), then 3 x^.

    x~ of document 0 masks 7 and 5, x~ of document 2 masks 7. x^ masks every other word.
    Targets are the sorted keyword ids (5, 7), so 7 -> 1 and 5 -> 0.
    """
    batch = Collator(PAD, SPECIAL, views())(features(types=True))
    assert batch["input_ids"].tolist() == [
        [CLS, 7, 8, 5, SEP, PAD, PAD],
        [CLS, 8, 9, SEP, PAD, PAD, PAD],
        [CLS, 9, 9, 7, 10, 9, SEP],
        [CLS, MASK, 8, MASK, SEP, PAD, PAD],
        [CLS, 9, 9, MASK, 10, 9, SEP],
        [CLS, 7, MASK, 5, SEP, PAD, PAD],
        [CLS, MASK, MASK, SEP, PAD, PAD, PAD],
        [CLS, MASK, MASK, 7, MASK, MASK, SEP],
    ]
    assert batch["document_of_row"].tolist() == [0, 1, 2, 0, 2, 0, 1, 2]
    assert batch["view_of_row"].tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    assert batch["masked_rows"].tolist() == [3, 3, 4]
    assert batch["masked_columns"].tolist() == [1, 3, 3]
    assert batch["keyword_labels"].tolist() == [1, 0, 1]
    assert batch["labels"].tolist() == [0, 1, 1]
    for name in ("attention_mask", "token_type_ids"):
        torch.testing.assert_close(batch[name], batch[name][:3][batch["document_of_row"]])


def test_hand_made_draws_reach_the_right_view(monkeypatch):
    """Stream 0 draws keywords, stream 1 context. p = q = 0.5 and one document [CLS] 7 8 5 [SEP].

    Stream 0 = (.9 .9 .1 .1 .1): of the keywords at 1 and 3 only 3 is masked. Stream 1 = (.1 .1 .9 .1 .1): 8 is kept.
    """
    drawn = np.array([[[0.9, 0.9, 0.1, 0.1, 0.1]], [[0.1, 0.1, 0.9, 0.1, 0.1]]])
    monkeypatch.setattr(collator_module, "document_draws", lambda *_: drawn)
    batch = Collator(PAD, SPECIAL, views(p=0.5, q=0.5))(features(DOCUMENTS[:1]))
    assert batch["input_ids"].tolist() == [[CLS, 7, 8, 5, SEP], [CLS, 7, 8, MASK, SEP], [CLS, 7, 8, 5, SEP]]
    assert batch["masked_columns"].tolist() == [3]
    assert batch["keyword_labels"].tolist() == [0]


def test_pointers_lead_to_mask_tokens_whose_originals_are_the_targets():
    random = np.random.default_rng(0)
    documents = [[CLS, *random.integers(4, 12, size=size), SEP] for size in random.integers(1, 30, size=40)]
    batch = Collator(PAD, SPECIAL, views(p=0.5, q=0.9))(features(documents, labels=[0] * 40))
    rows, columns = batch["masked_rows"], batch["masked_columns"]
    assert len(rows) > 20
    assert (batch["input_ids"][rows, columns] == MASK).all()
    assert (batch["view_of_row"][rows] == 1).all()
    originals = batch["input_ids"][batch["document_of_row"][rows], columns]
    torch.testing.assert_close(torch.from_numpy(KEYWORDS.target_ids)[batch["keyword_labels"]], originals)
    keyword_rows = (batch["view_of_row"] == 1).nonzero()[:, 0]
    assert set(rows.tolist()) == set(keyword_rows.tolist())  # no keyword view without a masked keyword
    changed = batch["input_ids"] != batch["input_ids"][batch["document_of_row"]]
    assert changed[keyword_rows].sum() == len(rows)


def test_dropped_context_is_a_shorter_batch_of_its_own():
    """p = q = 1. The documents keep their keywords: [CLS] 7 5 [SEP], [CLS] [SEP] and [CLS] 7 [SEP], padded to 4.

    Rows of the main batch are the documents and the two keyword-masked views, no context views.
    """
    batch = Collator(PAD, SPECIAL, views(context="drop"))(features(types=True))
    assert batch["view_of_row"].tolist() == [0, 0, 0, 1, 1]
    assert batch["context_input_ids"].tolist() == [[CLS, 7, 5, SEP], [CLS, SEP, PAD, PAD], [CLS, 7, SEP, PAD]]
    assert batch["context_attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]]
    assert batch["context_token_type_ids"][0].tolist() == [0, 1, 1, 1]


def test_only_the_requested_views():
    keyword_only = Collator(PAD, SPECIAL, views(context_view=False))(features())
    assert keyword_only["view_of_row"].tolist() == [0, 0, 0, 1, 1]
    context_only = Collator(PAD, SPECIAL, views(keyword_view=False))(features())
    assert context_only["view_of_row"].tolist() == [0, 0, 0, 2, 2, 2]
    assert "masked_rows" not in context_only


def test_each_piece_of_a_phrase_is_a_target():
    """The phrase (8, 9): targets (8, 9) -> 0, 1. Only document 1 has it; 9 alone in document 2 is context."""
    phrase = KeywordSet("user", (Keyword("w", (8, 9), 1.0),), 12)
    batch = Collator(PAD, SPECIAL, views(keywords=phrase, context_view=False))(features())
    assert batch["document_of_row"].tolist() == [0, 1, 2, 1]
    assert batch["masked_columns"].tolist() == [1, 2]
    assert batch["keyword_labels"].tolist() == [0, 1]


def test_special_token_that_is_also_a_keyword_stays():
    odd = KeywordSet("user", (Keyword("sep", (SEP,), 1.0), Keyword("pad", (PAD,), 1.0)), 12)
    batch = Collator(PAD, SPECIAL, views(keywords=odd))(features())
    assert batch["view_of_row"].tolist() == [0, 0, 0, 2, 2, 2]
    assert ((batch["input_ids"] == SEP).sum(dim=1) == 1).all()


def test_batch_without_any_keyword_gives_zero_not_nan():
    batch = Collator(PAD, SPECIAL, views())(features([DOCUMENTS[1], [CLS, 10, SEP]], labels=(0, 1)))
    assert batch["view_of_row"].tolist() == [0, 0, 2, 2]
    assert batch["masked_rows"].shape == batch["masked_columns"].shape == batch["keyword_labels"].shape == (0,)
    for name in ("masked_rows", "masked_columns", "keyword_labels"):
        assert batch[name].dtype == torch.int64
    token_logits = torch.randn(4, 5, 2)[batch["masked_rows"], batch["masked_columns"]]
    owners = batch["document_of_row"][batch["masked_rows"]]
    assert reconstruction_loss(token_logits, batch["keyword_labels"], owners, 2).tolist() == [0.0, 0.0]
    assert entropy_loss(torch.randn(2, 3)).isfinite().all()


def test_keyword_probability_zero_makes_no_keyword_rows():
    assert Collator(PAD, SPECIAL, views(p=0.0))(features())["view_of_row"].tolist() == [0, 0, 0, 2, 2, 2]


# --- a share of the documents ----------------------------------------------------------------------------------------

MANY = [[CLS, 7, 8, 5, SEP]] * 300


def viewed(share, epoch=0, seed=0):
    collator = Collator(PAD, SPECIAL, replace(views(seed=seed), share=share))
    collator.epoch = epoch
    return collator(features(MANY, labels=[0] * len(MANY)))


def test_at_share_one_every_document_has_views():
    batch, before = viewed(1.0), Collator(PAD, SPECIAL, views())(features(MANY, labels=[0] * 300))
    assert set(batch) == set(before) and all(torch.equal(batch[name], before[name]) for name in before)
    assert batch["context_documents"].tolist() == list(range(300))


def test_below_one_both_views_are_of_a_seeded_share_of_the_documents():
    batch = viewed(0.25)
    chosen = batch["context_documents"].tolist()
    assert 50 < len(chosen) < 100
    assert batch["document_of_row"].tolist() == [*range(300), *chosen, *chosen]
    assert viewed(0.25)["context_documents"].tolist() == chosen
    assert viewed(0.25, epoch=1)["context_documents"].tolist() != chosen
    assert viewed(0.25, seed=1)["context_documents"].tolist() != chosen


def test_a_view_does_not_depend_on_the_share():
    whole, part = viewed(1.0), viewed(0.25)
    for document in part["context_documents"].tolist():
        assert views_of(part, document) == views_of(whole, document)


def test_a_few_rows_without_context_join_the_others_and_many_do_not(monkeypatch):
    """The same tokens either way; joined, they are rows of view 2, padded to the width of the documents."""
    documents = DOCUMENTS * 8

    def collated(share, types=True):
        collator = Collator(PAD, SPECIAL, replace(views(context="drop"), share=share))
        return collator(features(documents, labels=[0] * len(documents), types=types))

    joined = collated(0.3)
    monkeypatch.setattr(collator_module, "JOINED_TOKENS", 0)
    apart = collated(0.3)
    assert "context_input_ids" not in joined and "context_input_ids" in apart
    rows = joined["view_of_row"] == 2
    owners = joined["context_documents"].tolist()
    assert joined["document_of_row"][rows].tolist() == owners == apart["context_documents"].tolist()
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        assert len(joined[name]) == len(joined["view_of_row"])
        short = apart[f"context_{name}"]
        assert joined[name][rows][:, : short.shape[1]].tolist() == short.tolist()
    assert not joined["attention_mask"][rows][:, apart["context_input_ids"].shape[1] :].any()
    monkeypatch.undo()
    assert "context_input_ids" in collated(0.9), "more than half of the documents"


def test_a_batch_in_which_no_document_has_views():
    for context in ("mask", "drop"):
        collator = Collator(PAD, SPECIAL, replace(views(context=context), share=1e-9))
        batch = collator(features())
        assert batch["view_of_row"].tolist() == [0, 0, 0] and len(batch["context_documents"]) == 0
        assert len(batch["masked_rows"]) == 0 and "context_input_ids" not in batch


# --- draws -----------------------------------------------------------------------------------------------------------

LONG = [[CLS, *[7, 8] * 20, SEP], [CLS, *[5, 9, 10] * 20, SEP], [CLS, 7, SEP]]


def views_of(batch, document):
    mine = batch["document_of_row"] == document
    length = int(batch["attention_mask"][document].sum())
    return batch["input_ids"][mine][:, :length].tolist()


def test_masks_do_not_depend_on_the_batch():
    collator = Collator(PAD, SPECIAL, views(p=0.5, q=0.5))
    together = collator(features(LONG, rows=[4, 9, 2]))
    alone = collator(features(LONG[:1], rows=[4]))
    turned = collator(features(LONG[::-1], rows=[2, 9, 4]))
    assert views_of(alone, 0) == views_of(together, 0) == views_of(turned, 2)


def test_masks_change_with_the_epoch_and_only_with_it():
    collator = Collator(PAD, SPECIAL, views(p=0.5, q=0.5))
    first = views_of(collator(features(LONG)), 0)
    collator.epoch = 1
    second = views_of(collator(features(LONG)), 0)
    collator.epoch = 0
    assert first != second
    assert views_of(collator(features(LONG)), 0) == first


def test_masks_depend_on_seed_and_row():
    batches = [
        Collator(PAD, SPECIAL, views(p=0.5, q=0.5, seed=seed))(features(LONG[:1], rows=[row]))
        for seed, row in [(0, 0), (1, 0), (0, 1)]
    ]
    assert len({str(views_of(batch, 0)) for batch in batches}) == 3


# --- any word --------------------------------------------------------------------------------------------------------


def test_random_words_are_drawn_anew_each_epoch_over_the_whole_vocabulary():
    """Each content token with probability 0.15, special tokens never; every drawn one is masked, whatever p is."""
    content = list(range(4, 24)) * 20  # 400 tokens, of a vocabulary of 30
    anything = KeywordSet("random", (), 30)
    collator = Collator(PAD, SPECIAL, replace(views(p=0.0, context_view=False, keywords=anything), random_share=0.15))
    seen = []
    for epoch in range(5):
        collator.epoch = epoch
        batch = collator(features([[CLS, *content, SEP]], labels=(0,)))
        columns = batch["masked_columns"].tolist()
        assert batch["keyword_labels"].tolist() == [content[column - 1] for column in columns], "vocabulary ids"
        assert all(batch["input_ids"][1, column] == MASK for column in columns)
        assert batch["input_ids"][1, [0, -1]].tolist() == [CLS, SEP]
        seen.append(columns)
    assert len({tuple(columns) for columns in seen}) == 5
    assert 0.12 < sum(map(len, seen)) / 2000 < 0.18


def test_the_context_of_random_words_is_the_rest():
    anything = KeywordSet("random", (), 30)
    drawn = replace(views(p=1.0, q=1.0, keywords=anything), random_share=0.5)
    batch = Collator(PAD, SPECIAL, drawn)(features([[CLS, *range(4, 24), SEP]], labels=(0,)))
    text, keyword_view, context_view = batch["input_ids"]
    content = slice(1, -1)
    assert torch.equal(keyword_view[content] == MASK, context_view[content] == text[content]), (
        "one masks, the other keeps"
    )
