"""What a paired comparison allows to claim."""

from __future__ import annotations

import pytest

from masker.report.verdict import verdict


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"p_value": 0.25, "smallest_p": 0.25}, "too few runs to show a difference (the smallest possible p is 0.25)"),
        ({"p_value": 0.3, "smallest_p": 0.03}, "p = 0.300 (sign-flip test over runs): no difference shown"),
        ({"p_value": 0.031, "smallest_p": 0.031}, "p = 0.031 (sign-flip test over runs): a better system"),
        (
            {"p_value": 0.031, "smallest_p": 0.031, "difference": -1.0},
            "p = 0.031 (sign-flip test over runs): a worse system",
        ),
        ({"p_value": 0.0001, "smallest_p": 0.0001}, "p < 0.001 (sign-flip test over runs): a better system"),
    ],
)
def test_a_claim_needs_enough_runs_and_a_small_p(figures, words):
    assert verdict({"difference": 1.5, **figures}, better="a better system", worse="a worse system") == words
