"""Training a model: from documents to the fields of a :class:`masker.model.Model`, whose module imports this one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from masker.config import Settings
from masker.documents import Documents, check_classes, settings_for
from masker.documents.label_doubts import warn_of_doubts
from masker.extras import require
from masker.labels import LABEL_TYPES
from masker.provenance import provenance
from masker.registry import METHODS


def train_model_fields(
    documents: Documents, settings: Settings, work: Path, *, label_type: str, device: str, restart: bool
) -> dict[str, Any]:
    """Train in a work folder; the arguments and errors are those of :meth:`masker.model.Model.fit`."""
    require("training", "torch", "transformers", "accelerate", "sklearn")
    from masker.detection.promises import all_decisions
    from masker.detection.training_and_calibration import train_and_calibrate
    from masker.training.run import TrainingRun
    from masker.training.work_folder import work_folder

    classes: list[str] = []
    settings = settings_for(documents, settings)
    if settings.model.head != "regression":
        check_classes(documents)
        classes = sorted(documents.class_names, key=LABEL_TYPES[label_type])
        warn_of_doubts(documents)
    data = {"data": documents.name, "data_sha256": documents.fingerprint(), "rows": len(documents)}
    origin = provenance(seed=settings.training.seed, **data)
    with work_folder(work, documents, settings, restart=restart):
        run = TrainingRun(documents, classes, settings, work, device)
        backend, detector = train_and_calibrate(run, METHODS.get(settings.training.method).train)
    origin["decisions"] = all_decisions(run)
    run.tokenizer.model_max_length = run.max_length
    return {
        "tokenizer": run.tokenizer,
        "max_length": run.max_length,
        "backend": backend,
        "detector": detector,
        "settings": settings,
        "classes": classes,
        "label_type": label_type,
        "pairs": documents.pairs is not None,
        "keywords": run.keywords,
        "validation": run.validation,
        "provenance": origin,
        "losses": run.loss_curves(),
    }
