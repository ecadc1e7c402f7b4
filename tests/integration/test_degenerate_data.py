"""Data that nobody would choose: it trains to finite weights and answers, or a line says why not.

More of it, with the command line, is measured by ``make trust``.
"""

from __future__ import annotations

import math

import pytest

from benchmarks.trust_numerics import DEGENERATE
from masker import Documents, MaskerError, Model


def fit(name, tiny_settings, work):
    rows = DEGENERATE[name]()
    documents = Documents([row["text"] for row in rows], None, [row["label"] for row in rows], name)
    settings = tiny_settings(training={"epochs": 1}, detection={"calibration": "split"})
    return Model.fit(documents, settings, work, device="cpu")


@pytest.mark.parametrize(
    "name", ["all texts equal", "one word in all", "no known word", "a class of one document", "two identical classes"]
)
def test_it_trains_to_numbers(name, tiny_settings, tmp_path):
    model = fit(name, tiny_settings, tmp_path / "work")
    assert all(weight.isfinite().all() for weight in model.backend.classifier.parameters())
    for answer in model.predict(["rocket", "α", ""]):
        assert math.isfinite(answer.ood_score) and 0 <= answer.confidence <= 1


@pytest.mark.parametrize(
    ("name", "reason"), [("one document a class", "two documents of some class"), ("one class", "at least two classes")]
)
def test_it_says_why_not(name, reason, tiny_settings, tmp_path):
    with pytest.raises(MaskerError, match=reason):
        fit(name, tiny_settings, tmp_path / "work")
    assert not (tmp_path / "work").exists(), "nothing is left behind"
