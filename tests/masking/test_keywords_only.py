"""Documents reduced to their keywords, and the biased logits of a batch."""

import numpy as np
import torch

from masker.documents.encoding import Encoded
from masker.keywords import Keyword, KeywordSet
from masker.masking.collator import Collator
from masker.masking.keywords_only import contain_keywords, keywords_only

PAD, CLS, SEP = 0, 1, 2
KEYWORDS = KeywordSet("user", (Keyword("k", (7,), 2.0), Keyword("l m", (5, 6), 1.0)), 12)


def rows(*values):
    return [np.array(ids, dtype=np.int64) for ids in values]


def test_context_is_left_out():
    """7 is a keyword and 5 6 a phrase; 5 alone is context."""
    documents = Encoded(
        rows([CLS, 7, 8, 5, SEP], [CLS, 8, 9, SEP], [CLS, 9, 5, 6, 7, SEP]), None, np.array([0, 1, 1]), np.arange(3)
    )
    reduced = keywords_only(documents, KEYWORDS, [PAD, CLS, SEP])
    assert [ids.tolist() for ids in reduced.input_ids] == [[CLS, 7, SEP], [CLS, SEP], [CLS, 5, 6, 7, SEP]]
    assert reduced.labels.tolist() == [0, 1, 1]
    assert reduced.token_type_ids is None


def test_token_types_and_windows_stay_with_their_tokens():
    documents = Encoded(rows([CLS, 7, SEP, 8, 7, SEP]), rows([0, 0, 0, 1, 1, 1]), None, np.array([4]))
    reduced = keywords_only(documents, KEYWORDS, [PAD, CLS, SEP])
    assert reduced.input_ids[0].tolist() == [CLS, 7, SEP, 7, SEP]
    assert reduced.token_type_ids[0].tolist() == [0, 0, 0, 1, 1]
    assert reduced.document.tolist() == [4]


def test_a_batch_gets_the_biased_logits_of_its_documents():
    bias = np.arange(8, dtype=np.float32).reshape(4, 2)
    features = [
        {"input_ids": ids, "token_type_ids": None, "label": 0, "row": row}
        for row, ids in zip((3, 0), rows([CLS, 7, SEP], [CLS, SEP]), strict=True)
    ]
    batch = Collator(PAD, [PAD, CLS, SEP], bias_logits=bias)(features)
    assert torch.equal(batch["bias_logits"], torch.tensor([[6.0, 7.0], [0.0, 1.0]]))
    assert "bias_logits" not in Collator(PAD, [PAD, CLS, SEP])(features)


def test_documents_that_contain_a_keyword():
    """5 alone is no keyword; a document contains one if any of its windows does."""
    documents = Encoded(
        rows([CLS, 5, SEP], [CLS, 7, SEP], [CLS, 8, SEP], [CLS, 5, 6, SEP]), None, None, np.array([0, 1, 2, 2])
    )
    assert contain_keywords(documents, KEYWORDS).tolist() == [False, True, True]
