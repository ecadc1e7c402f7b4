"""Train on two dozen messages, answer new ones, reject what is foreign, save the model and open it again.

python examples/support_desk.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

from masker import MaskerClassifier
from masker.experiments.support_messages import MESSAGES, QUESTIONS


def main(folder: Path) -> None:
    """Do it all; the model stays in ``folder``."""
    texts = [text for group in MESSAGES.values() for text in group]
    labels = [label for label, group in MESSAGES.items() for _ in group]
    MaskerClassifier().fit(texts, labels).save(folder / "model", overwrite=True)

    classifier = MaskerClassifier.load(folder / "model")
    for text, answer in zip(QUESTIONS, classifier.predict_texts(QUESTIONS), strict=True):
        verdict = "none of my classes" if answer.is_ood else answer.label
        print(f"{verdict:20} confidence {answer.confidence:.2f}, p-value {answer.p_value:.2f}: {text}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/support-desk"))
