"""The biased model of a residual ensemble: what it sees, and what it leaves for the next run."""

from __future__ import annotations

import numpy as np
import pytest

from masker import DataError
from masker.keywords import Keyword, KeywordSet

SPLIT = {"detection": {"calibration": "split"}}


def test_the_biased_model_sees_keywords_only_and_its_outputs_are_kept(start, stages):
    run = start("residual")
    token = int(run.tokenizer.convert_tokens_to_ids("moon"))
    keywords = KeywordSet("user", (Keyword("moon", (token,), 1.0),), len(run.tokenizer))
    logits = run.bias_logits(keywords)
    ((stage, data, _, _),) = stages
    assert stage.name == "biased" and stage.keywords is None and stage.averaged_share == 0.0
    special = set(run.tokenizer.all_special_ids)
    assert {int(i) for ids in data.train.input_ids for i in ids} <= special | {token}
    assert {int(i) for ids in data.validation.input_ids for i in ids} <= special | {token}
    assert logits.shape == (len(run.data.train), 3) and logits.dtype == np.float32
    again = start("residual").bias_logits(keywords)
    assert np.array_equal(again, logits) and len(stages) == 1


def test_the_biased_model_may_be_trained_on_documents_with_keywords_alone(start, stages):
    run = start("residual", baselines={"residual_documents": "with-keywords"}, **SPLIT)
    token = run.tokenizer.convert_tokens_to_ids("rocket")
    contains = [token in ids for ids in run.data.train.input_ids]
    assert 0 < sum(contains) < len(contains)
    logits = run.bias_logits(KeywordSet("user", (Keyword("rocket", (token,), 1.0),), len(run.tokenizer)))
    ((stage, data, _, _),) = stages
    assert stage.name == "biased" and len(data.train) == sum(contains)
    assert all(token in ids for ids in data.train.input_ids)
    assert logits.shape == (len(run.data.train), 3), "and asked about all"


def test_no_document_with_a_keyword(start, stages):
    run = start("residual", baselines={"residual_documents": "with-keywords"}, **SPLIT)
    with pytest.raises(DataError, match="no training document contains a keyword"):
        run.bias_logits(KeywordSet("user", (), len(run.tokenizer)))
