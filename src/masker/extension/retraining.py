"""Training an extended model fully: on the texts that it was trained on and the new ones together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from masker.documents import Documents, check_form
from masker.errors import DataError
from masker.extension.extended_folder import keep_files
from masker.extension.extending import extension_record, label_type_with
from masker.model import Model
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

    It starts where the model started. Its present weights have seen the texts that training would hold out, which then
    look less strange than new ones, and the threshold would promise what it does not keep.

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
    model = Model.fit(joined, old.settings, work, label_type=kind, device=device, restart=restart)
    labels = cast("list[Any]", new.labels)
    names = [name for label in labels for name in (label if isinstance(label, list) else [label])]
    record = {**extension_record(names, added, new.name), "retrained_with": known.name}
    provenance = {**model.provenance, "extended": [*old.provenance.get("extended", []), record]}
    model = replace(model, provenance=provenance)
    written = model.save(target, overwrite=output is None, beside=keep_files(folder))
    remove_work_folder(work)
    return model, written


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
