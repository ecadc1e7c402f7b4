"""A score of your own: register it, train with it, and get calibrated decisions by it.

    python examples/own_score.py [FOLDER]

In a package, an entry point in the group ``masker.scores`` names the module that registers; see docs/research.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from masker import MaskerClassifier
from masker.detection.score import Score, register_score
from masker.experiments.support_messages import MESSAGES, QUESTIONS


@register_score
class RunnerUpScore(Score):
    """How close the runner-up comes to the best class: 0 if both are level, negative if the best is far ahead."""

    name = "runner-up"

    def ood_score(self, outputs: Any) -> Any:
        ranked = np.sort(outputs.logits.astype(np.float64), axis=1)
        return ranked[:, -2] - ranked[:, -1]


def main(folder: Path) -> None:
    """Train, save, and print the decisions; the model stays in ``folder``."""
    texts = [text for group in MESSAGES.values() for text in group]
    labels = [label for label, group in MESSAGES.items() for _ in group]
    classifier = MaskerClassifier(detector="runner-up").fit(texts, labels)
    classifier.save(folder / "model", overwrite=True)
    print(f"threshold {classifier.threshold_:.2f}")
    for text, score, out in zip(QUESTIONS, classifier.ood_score(QUESTIONS), classifier.is_ood(QUESTIONS), strict=True):
        print(f"{score:7.2f} {'rejected' if out else 'accepted'}: {text}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/own-score"))
