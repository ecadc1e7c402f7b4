"""What a paired comparison of training runs allows to claim."""

from __future__ import annotations

from typing import Any

SIGNIFICANT = 0.05


def verdict(row: dict[str, Any], *, better: str, worse: str) -> str:
    """The end of a sentence about a comparison; a significant difference above 0 is reported as ``better``."""
    if row["smallest_p"] > SIGNIFICANT:
        return f"too few runs to show a difference (the smallest possible p is {row['smallest_p']:.2g})"
    shown = better if row["difference"] > 0 else worse
    claim = "no difference shown" if row["p_value"] > SIGNIFICANT else shown
    p_value = f"p = {row['p_value']:.3f}" if row["p_value"] >= 0.0005 else "p < 0.001"
    return f"{p_value} (sign-flip test over runs): {claim}"
