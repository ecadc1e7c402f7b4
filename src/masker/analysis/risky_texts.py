"""The documents whose answers may hurt: wrong though confident, rejected though known, answered though foreign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from masker.analysis.answers import Answered
from masker.analysis.report_data import RiskyText
from masker.detection.arrays import Floats, Labels
from masker.detection.detector import Judgement
from masker.documents import Documents

#: Documents of each kind, and the characters of each that are quoted.
MOST_TEXTS = 10
QUOTED = 300


def quoted(documents: Documents, row: int, most: int = QUOTED) -> str:
    """The text of a document, or both texts of a pair, shortened."""
    texts = [documents.texts[row], *([] if documents.pairs is None else [documents.pairs[row]])]
    text = " ⟶ ".join(" ".join(part.split()) for part in texts)
    text = text.encode("utf-8", "replace").decode()  # half a surrogate pair can be read from JSON, but not written
    return text if len(text) <= most else text[: most - 1] + "…"


def risky_texts(
    test: Documents,
    answered: Answered,
    foreign: Mapping[str, tuple[Documents, Judgement]],
    classes: Sequence[str],
) -> dict[str, list[RiskyText]]:
    """The worst first, by kind; a kind without any is left out.

    A rejected document is not answered, so it cannot be confidently wrong.
    """
    judged, confidence = answered.judged, answered.confidence
    names = [classes[label] for label in answered.labels]
    wrong = _ranked(~answered.right & ~judged.rejected, -confidence)
    rejected = _ranked(judged.rejected, judged.p_values)
    found = {
        "confidently wrong": [_risky(test, judged, row, names[row], classes) for row in wrong],
        "rejected although known": [_risky(test, judged, row, names[row], classes) for row in rejected],
    }
    for name, (documents, others) in foreign.items():
        answers = _ranked(~others.rejected, -others.p_values)
        found[f"answered although foreign: {name}"] = [_risky(documents, others, row, name, classes) for row in answers]
    return {kind: rows for kind, rows in found.items() if rows}


def _ranked(chosen: np.ndarray, worst_first: Floats) -> Labels:
    rows = np.flatnonzero(chosen)
    return rows[np.argsort(worst_first[rows], kind="stable")][:MOST_TEXTS]


def _risky(documents: Documents, judged: Judgement, row: int, label: str, classes: Sequence[str]) -> RiskyText:
    return RiskyText(
        quoted(documents, row),
        label,
        classes[judged.predicted[row]],
        round(float(judged.probabilities[row].max()), 4),
        round(float(judged.p_values[row]), 4),
    )
