"""Training an extended model fully: on the texts that it was trained on and the new ones together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from masker.config import Settings
from masker.documents import Documents, check_form
from masker.errors import DataError
from masker.extension.extended_folder import keep_files
from masker.extension.extending import extension_record, label_type_with
from masker.model import Model
from masker.registry import METHODS
from masker.training.work_folder import remove_work_folder


def retrain_folder(
    folder: str | Path,
    known: Documents,
    new: Documents,
    *,
    output: str | Path | None = None,
    device: str = "auto",
    restart: bool = False,
) -> tuple[Model, Path]:
    """Train with the settings of a model, on old and new texts, and write the result; returns it and its folder.

    An encoder that was trained goes on from what it is: it knows the task, and of the new classes there are few texts.
    It has seen the old texts, though, which look less strange to it than the new ones do. So added classes have a
    threshold of their own, if enough of their texts are held out; that of the old classes may reject a little more than
    it promises (docs/open-world.md), and ``masker calibrate`` with texts of neither kind settles it.

    Args:
        folder: The model folder.
        known: The labelled documents that the model was trained on.
        new: Labelled documents, of new classes or of old ones.
        output: Folder for the new model; ``None`` replaces the old one.
        device: Where to train.
        restart: Discard an unfinished run.

    Raises:
        DataError: When documents are not of the model's kind, or no document has one of its classes.
        MaskerError: When the model is a regression.
    """
    old = Model.open(folder, "torch", device)
    old.require_detector("extend")
    joined = _joined(old, known, new)
    added = sorted(set(joined.class_names) - set(old.classes))
    target = Path(output or folder).expanduser()
    work = target.absolute().with_name(f"{target.name}.partial")
    kind = label_type_with(old.label_type, added)
    model = Model.fit(joined, _warm(old.settings, folder), work, label_type=kind, device=device, restart=restart)
    model = _with_added_apart(replace(model, settings=old.settings), old)
    labels = cast("list[Any]", new.labels)
    names = [name for label in labels for name in (label if isinstance(label, list) else [label])]
    record = {**extension_record(names, added, new.name), "retrained_with": known.name}
    provenance = {**model.provenance, "extended": [*old.provenance.get("extended", []), record]}
    model = replace(model, provenance=provenance)
    written = model.save(target, overwrite=output is None, beside=keep_files(folder))
    remove_work_folder(work)
    return model, written


def _warm(settings: Settings, folder: str | Path) -> Settings:
    """The settings of a training that starts from the encoder of a model."""
    if not METHODS.get(settings.training.method).fine_tuned:
        return settings
    start = settings.model.model_copy(update={"backbone": str(Path(folder).expanduser().resolve())})
    return settings.model_copy(update={"model": start})


def _with_added_apart(model: Model, old: Model) -> Model:
    """The model with a threshold of their own for classes that were added, now or before, if it can have one."""
    detector, before = model.require_detector(), old.require_detector().added
    trained = set(old.classes) if before is None else set(np.array(old.classes)[~before].tolist())
    detector = replace(detector, added=np.array([name not in trained for name in model.classes]))
    rate = detector.calibration.false_alarm_rate
    if not detector.calibration.external:
        detector, _ = detector.adjusted(model.settings, false_alarm_rate=rate)
    return model.with_detector(detector)


def _joined(old: Model, known: Documents, new: Documents) -> Documents:
    for documents in (known, new):
        check_form(documents, several=old.is_multi_label)
    if (known.pairs is None) != (new.pairs is None):
        raise DataError("--data and the new texts must both be single texts, or both pairs of texts")
    joined = Documents(
        [*known.texts, *new.texts],
        None if known.pairs is None else [*known.pairs, *(new.pairs or [])],
        cast("list[str]", [*(known.labels or []), *(new.labels or [])]),
        f"{known.name} and {new.name}",
    )
    lost = sorted(set(old.classes) - set(joined.class_names))
    if lost:
        named = ", ".join(f"'{name}'" for name in lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
        raise DataError(
            f"the model would lose {named}: neither {known.name} nor {new.name} has a text of it; add the texts that "
            "the model was extended by"
        )
    return joined
