"""Audits of several systems on the same documents and keywords."""

from __future__ import annotations

import pytest

from masker.errors import ConfigError
from tests.experiments.conftest import VANILLA

BOTH = {**VANILLA, "masker": {"title": "MASKER", "settings": {"training": {"method": "masker"}}}}
QUESTION = [{"system": "masker", "baseline": "vanilla", "metric": "reliance"}]


def test_reliance_of_all_systems_on_the_same_keywords(analysed):
    outcome, text = analysed(
        "reliance", systems=BOTH, comparisons=QUESTION,
        keywords=["training", "occlusion"], masking=["drop"], documents=24, per_class=2,
    )  # fmt: skip
    vanilla, masker = outcome.summary["analysis"]
    for row in (vanilla, masker):
        assert [(audit["keywords"], audit["masking"]) for audit in row["audits"]] == [
            ("training", "drop"),
            ("occlusion", "drop"),
        ]
        assert [audit["measured_documents"] for audit in row["audits"]] == [24, 12]
        assert list(row["documents"]) == ["known"], "the test set of the training domain alone"
    same = [row["audits"][0] for row in (vanilla, masker)]
    assert same[0]["keyword_share"] == same[1]["keyword_share"] > 0
    stages = [outcome.plan.graph.stages[run.goal] for run in outcome.plan.runs]
    assert stages[0].depends_on[1] == stages[1].depends_on[1], "one keyword stage for both"
    assert [(row["keywords"], row["units"]) for row in outcome.summary["comparisons"]] == [
        ("training", 1),
        ("occlusion", 1),
    ]
    expected = same[0]["reliance"]["value"] - same[1]["reliance"]["value"]
    assert outcome.summary["comparisons"][0]["difference"] == pytest.approx(expected, abs=1e-4)
    assert "| Topics" in text and "reliance, MASKER" in text and "MASKER minus vanilla" in text


def test_bad_options_of_the_analysis(analysed):
    for words, arguments in (
        (r"options\.masking", {"keywords": ["training"]}),
        (r"options\.keywords", {"keywords": ["atention"], "masking": ["drop"]}),
        ("needs a system with training.method masker or residual", {"keywords": ["training"], "masking": ["drop"]}),
        ("belongs to the analysis 'reliance'", {
            "keywords": ["training"], "masking": ["drop"], "systems": BOTH,
            "comparisons": [{"system": "masker", "baseline": "vanilla", "metric": "auroc"}]}),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=words):
            analysed("reliance", **arguments)
