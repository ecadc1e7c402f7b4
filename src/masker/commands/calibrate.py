"""``masker calibrate``: a new promise for a model folder, without training."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from masker.commands.train import read_other_texts
from masker.config import DataSettings
from masker.documents import read_documents
from masker.documents.texts import texts_of
from masker.model import Model
from masker.modeling.model_folder import check_output, copy_folder


@dataclass(frozen=True)
class CalibrationChanges:
    """What a calibration changes; ``None`` keeps what the model has.

    ``ood_examples`` and ``statistics`` are sources of texts; with the former, the rate is an upper limit.
    """

    score: str | None = None
    false_alarm_rate: float | None = None
    confidence: float | None = None
    class_conditional: bool | None = None
    missed_rate: float | None = None
    ood_examples: str | None = None
    statistics: str | None = None


def calibrate(
    folder: str,
    data: str,
    settings: DataSettings,
    changes: CalibrationChanges,
    *,
    output: str | Path | None = None,
    backend: str | None = None,
    device: str = "auto",
) -> dict[str, Any]:
    """Calibrate the model of a folder on new texts, with or without labels; see :meth:`masker.model.Model.calibrate`.

    ``output`` is a new folder for the calibrated model; ``None`` changes ``folder``. Returns a JSON-ready report.
    """
    if output is not None:
        check_output(output)
    model = Model.open(folder, backend, device)
    documents = read_documents(data, settings, require_labels=None, head=model.head)
    examples = None if changes.ood_examples is None else read_other_texts(changes.ood_examples, settings)
    statistics = None
    if changes.statistics is not None:
        # Statistics need every class, whatever rows --where and --limit choose of ``data``.
        trained_on = read_documents(changes.statistics, settings.all_rows(), require_labels=True, head=model.head)
        statistics = texts_of(trained_on), trained_on.labels or []
    model = model.calibrate(
        texts_of(documents),
        documents.labels,
        score=changes.score,
        false_alarm_rate=changes.false_alarm_rate,
        confidence=changes.confidence,
        class_conditional=changes.class_conditional,
        statistics=statistics,
    )
    if changes.missed_rate is not None:
        model = model.at_missed_rate(changes.missed_rate)
    rows = None
    if examples is not None:
        model, rows = model.at_operating_point(examples, changes.false_alarm_rate)
    written = model.save_detector(folder) if output is None else copy_folder(folder, output, model.save_detector)
    return {
        "model": str(written),
        "data": documents.name,
        "labelled": documents.labels is not None,
        "documents": len(documents),
        "threshold": model.require_detector().calibration.threshold,
        **(model.describe_detector() or {}),
        "trade_off": rows,
    }
