"""``--only``: any of the values of a key, and every key."""

from __future__ import annotations

import pytest

from masker.errors import ConfigError
from masker.experiments.run_filter import RunFilter

RUN = {"train": "Newsgroup", "system": "masker", "backbone": ("BERT", "minilm")}


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ([], True),
        (["system=MASKER"], True),
        (["system=vanilla", "system=masker"], True),
        (["system=masker", "train=amazon"], False),
        (["system=masker:auto"], False),
        (["backbone=bert"], True),
        (["backbone=minilm"], True),
        (["backbone=roberta"], False),
    ],
)
def test_a_run_matches_one_value_of_each_key(only, expected):
    assert RunFilter(only).matches(**RUN) is expected


def test_a_system_is_named_with_or_without_its_score():
    run = {**RUN, "system": "masker:auto"}
    assert RunFilter(["system=masker"]).matches(**run) and RunFilter(["system=masker:auto"]).matches(**run)
    assert not RunFilter(["system=masker:energy"]).matches(**run)


def test_the_values_of_all_runs_are_remembered():
    wanted = RunFilter(["system=maskr"])
    assert not wanted.matches(**RUN)
    assert not wanted.matches(train="Newsgroup", system="ocsvm", backbone=("", "minilm"))
    assert wanted.known() == "train: Newsgroup; system: masker, ocsvm; backbone: BERT, minilm"


@pytest.mark.parametrize("text", ["sytem=masker", "system"])
def test_a_filter_is_key_and_value(text):
    with pytest.raises(ConfigError, match=r"--only takes KEY=VALUE with KEY one of train, system, backbone; got"):
        RunFilter([text])
