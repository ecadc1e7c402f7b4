"""What a paired comparison of training runs may claim."""

from __future__ import annotations

from typing import Any

SIGNIFICANT = 0.05


def verdict(row: dict[str, Any], *, better: str, worse: str) -> str:
    """The end of a sentence about a comparison; ``better`` is said when its difference is above 0."""
    if row["smallest_p"] > SIGNIFICANT:
        return f"so few runs cannot show a difference (their smallest possible p is {row['smallest_p']:.2g})"
    shown = better if row["difference"] > 0 else worse
    claim = "no difference shown" if row["p_value"] > SIGNIFICANT else shown
    p_value = f"p = {row['p_value']:.3f}" if row["p_value"] >= 0.0005 else "p < 0.001"
    return f"{p_value} (sign-flip test over runs): {claim}"
