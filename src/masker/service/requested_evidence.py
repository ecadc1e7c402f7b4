"""Evidence for the answers of a request."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from masker.detection.prediction import Prediction
from masker.documents.texts import Text
from masker.evidence import find_evidence
from masker.model import Model
from masker.service.failures import too_large

#: Texts of a request that may ask for evidence: each costs as much as dozens of answers.
MOST_TEXTS = 16

_ONE_AT_A_TIME = threading.Lock()


def requested_evidence(model: Model, texts: Sequence[Text], predictions: Sequence[Prediction]) -> list[dict[str, Any]]:
    """The evidence for each text, JSON-ready; one request at a time, so that answers without evidence are not held up.

    Raises:
        ServiceError: 413 for more than :data:`MOST_TEXTS` texts.
    """
    if len(texts) > MOST_TEXTS:
        raise too_large(f"evidence is found for {MOST_TEXTS} texts at a time; got {len(texts)}; send them in parts")
    with _ONE_AT_A_TIME:
        return [find_evidence(model, text).as_dict() for text in texts]
