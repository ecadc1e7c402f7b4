"""The sections of the settings: defaults, and values that are refused."""

import pytest
from pydantic import ValidationError

from masker.config import build_settings
from masker.errors import ConfigError


def problem(*layers, **arguments):
    with pytest.raises(ConfigError) as caught:
        build_settings(*layers, **arguments)
    (line,) = str(caught.value).splitlines()
    return line


def test_defaults_are_the_papers_numbers():
    """Section "Experimental setup": 10 C keywords, class-agnostic, by attention; p = 0.5, q = 0.9; lambdas 0.001."""
    settings = build_settings()
    assert (settings.masking.keyword_mask_prob, settings.masking.context_mask_prob) == (0.5, 0.9)
    assert (settings.loss.lambda_mkr, settings.loss.lambda_mer) == (1e-3, 1e-3)
    assert (settings.keywords.source, settings.keywords.per_class) == ("attention", 10)
    assert settings.keywords.class_balanced is False
    assert (settings.loss.mkr_reduction, settings.loss.keyword_view) == ("sum", "reconstruct")


def test_what_only_the_paper_does_is_off_by_default():
    settings = build_settings()
    assert (settings.training.embedding_layers, settings.training.lr_schedule) == ("words", "auto")
    assert (settings.training.warmup_fraction, settings.training.max_grad_norm) == (0.1, 1.0)
    assert (settings.keywords.random_share, settings.keywords.attention_epochs) == (None, None)
    assert (settings.loss.lambda_attention, settings.baselines.residual_documents) == (0.0, "all")
    assert settings.data.validation_fraction == 0.1


@pytest.mark.parametrize("share", [0.0, 1.1])
def test_view_share_outside_zero_and_one(share):
    line = problem({"masking": {"view_share": share}})
    assert line.startswith("masking.view_share: ") and line.endswith(f"got {share!r}")


def test_confidence_is_a_probability_above_one_half():
    assert build_settings({"detection": {"confidence": 0.95}}).detection.confidence == 0.95
    assert build_settings({"detection": {"confidence": 0}}).detection.confidence is None
    line = problem({"detection": {"confidence": 0.05}})
    assert line.startswith("detection.confidence: must be at least 0.5 and below 1") and line.endswith("got 0.05")


def test_settings_cannot_be_changed_by_accident():
    with pytest.raises(ValidationError):
        build_settings().loss.lambda_mer = 3.0


@pytest.mark.parametrize("key", ["keyword_mask_prob", "context_mask_prob"])
@pytest.mark.parametrize("value", [-0.1, 1.0001, "often"])
def test_probability_outside_zero_and_one(key, value):
    line = problem({"masking": {key: value}})
    assert line.startswith(f"masking.{key}: ")
    assert line.endswith(f"got {value!r}")


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_probabilities_zero_and_one_are_allowed(value):
    assert build_settings({"masking": {"keyword_mask_prob": value}}).masking.keyword_mask_prob == value


@pytest.mark.parametrize("value", [".nan", ".inf", "NaN", "-1"])
def test_weights_must_be_finite_and_not_negative(value):
    line = problem(overrides=[f"loss.lambda_mkr={value}"])
    assert line.startswith("loss.lambda_mkr: ")


def test_unknown_choice_lists_the_choices():
    line = problem({"model": {"head": "softmax"}})
    assert line.startswith("model.head: ")
    assert all(head in line for head in ("one-vs-rest", "multi-class", "regression", "'softmax'"))


def test_a_second_source_is_read_whole():
    data = build_settings({"data": {"where": {"genre": ["letters"]}, "limit": 3, "text_column": "body"}}).data
    assert data.all_rows() == build_settings({"data": {"text_column": "body"}}).data
