"""The table of methods: what each row says, and what each method asks of a training run."""

from __future__ import annotations

import numpy as np
import pytest

from masker.config import build_settings
from masker.errors import ConfigError
from masker.registry import METHODS, SCORES
from masker.training.methods import Method


class FakeRun:
    """Records the calls of a method."""

    def __init__(self, method, **sections):
        self.settings = build_settings({"training": {"method": method}}, sections)
        self.calls: list[str] = []
        self.given: dict[str, object] = {}

    def find_keywords(self):
        self.calls.append("find_keywords")
        return "keywords"

    def bias_logits(self, keywords):
        assert keywords == "keywords"
        self.calls.append("bias_logits")
        return np.zeros((2, 2))

    def fit_network(self, **given):
        self.calls.append("fit_network")
        self.given = given
        return "network"

    def fit_convolution(self):
        self.calls.append("fit_convolution")
        return "network"

    def fit_linear(self, features):
        self.calls.append(f"fit_linear {features}")
        return "network"


CONVOLUTION = {"baselines": {"openmax_network": "convolution"}}
ENCODER = {"baselines": {"ocsvm_features": "encoder"}}


@pytest.mark.parametrize(
    ("method", "sections", "calls"),
    [
        ("vanilla", {}, ["fit_network"]),
        ("masker", {}, ["find_keywords", "fit_network"]),
        ("residual", {}, ["find_keywords", "bias_logits", "fit_network"]),
        ("openmax", {}, ["fit_network"]),
        ("openmax", CONVOLUTION, ["fit_convolution"]),
        ("doc", {}, ["fit_convolution"]),
        ("ocsvm", {}, ["fit_linear tf-idf"]),
        ("ocsvm", ENCODER, ["fit_linear encoder"]),
        ("linear", {}, ["fit_linear encoder"]),
    ],
)
def test_what_a_method_does(method, sections, calls):
    run = FakeRun(method, **sections)
    assert METHODS.get(method).train(run) == "network"
    assert run.calls == calls
    assert METHODS.get(method).keywords == ("find_keywords" in calls)
    if method == "masker":
        assert run.given == {"keywords": "keywords"}
    if method == "residual":
        assert list(run.given) == ["bias_logits"], "its final network sees no keyword masks"


@pytest.mark.parametrize("name", METHODS)
def test_rows_are_consistent(name):
    row = METHODS.get(name)
    assert row.name == name
    assert row.own_score is None or SCORES.get(row.own_score).method_only
    assert not row.own_rule or row.own_score is not None
    assert row.fine_tuned or not row.attention, "without a network there is no attention to read"
    settings = build_settings({"training": {"method": name, "head_start": "new"}})
    assert settings.model.head == row.heads[0]
    if row.cross_fits:
        assert row.own_score in (None, "highest-logit"), "statistics of several models have no mean"


def test_a_method_of_ones_own_is_a_row(monkeypatch):
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS._entries))
    METHODS.add("mine", Method("mine", lambda run: run.fit_network(), ("multi-class",)))
    settings = build_settings({"training": {"method": "mine"}})
    assert settings.model.head == "multi-class" and not settings.is_convolutional
    with pytest.raises(ConfigError, match=r"model.head must be multi-class for training.method=mine; got 'regression'"):
        build_settings({"training": {"method": "mine"}, "model": {"head": "regression"}})
