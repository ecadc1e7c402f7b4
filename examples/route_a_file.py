"""Answer the texts of a CSV file, and put what the model is not sure of on a pile for people.

    python examples/route_a_file.py [FOLDER]

A text goes to people if it is foreign, or if its class is not clear. The model streams: the file may be larger than
memory.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from masker import MaskerClassifier
from masker.experiments.support_messages import MESSAGES, QUESTIONS

SURE = 0.7


def main(folder: Path) -> None:
    """Write ``answered.csv`` and ``for-people.csv`` into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "inbox.csv"
    with source.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text"], *([text] for text in QUESTIONS)])

    texts = [text for group in MESSAGES.values() for text in group]
    labels = [label for label, group in MESSAGES.items() for _ in group]
    classifier = MaskerClassifier(method="linear").fit(texts, labels)  # seconds: no fine-tuning

    with (
        source.open(encoding="utf-8", newline="") as inbox,
        (folder / "answered.csv").open("w", encoding="utf-8", newline="") as answered,
        (folder / "for-people.csv").open("w", encoding="utf-8", newline="") as for_people,
    ):
        piles = {True: csv.writer(answered), False: csv.writer(for_people)}
        messages = [row["text"] for row in csv.DictReader(inbox)]
        for text, answer in zip(messages, classifier.predict_stream(messages), strict=True):
            sure = not answer.is_ood and answer.confidence >= SURE
            piles[sure].writerow([text, answer.label, f"{answer.confidence:.3f}", f"{answer.p_value:.3f}"])
    for name in ("answered.csv", "for-people.csv"):
        print(f"{name}: {len((folder / name).read_text(encoding='utf-8').splitlines())} texts")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/route-a-file"))
