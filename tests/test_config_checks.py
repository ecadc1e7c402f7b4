"""Settings that do not go together (test_config.py has the others)."""

from __future__ import annotations

import pytest

from masker.config import build_settings
from masker.errors import ConfigError


def test_random_words_need_random_keywords():
    with pytest.raises(ConfigError, match=r"keywords.random_share needs keywords.source=random; got 'attention'"):
        build_settings({"keywords": {"random_share": 0.15}})
    assert build_settings({"keywords": {"random_share": 0.15, "source": "random"}}).keywords.random_share == 0.15


@pytest.mark.parametrize("method", ["doc", "ocsvm", "linear"])
def test_uniform_attention_needs_attention(method):
    with pytest.raises(ConfigError, match=f"which training.method={method} has not; leave it at 0"):
        build_settings({"training": {"method": method}, "loss": {"lambda_attention": 0.1}})
    assert build_settings({"loss": {"lambda_attention": 0.1}, "training": {"method": "vanilla"}})


def test_a_published_rule_needs_a_method_that_has_one():
    with pytest.raises(ConfigError, match=r"such a rule \(.*doc.*\); got training\.method=masker, so leave"):
        build_settings({"detection": {"rule": "published"}})
