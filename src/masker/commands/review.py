"""``masker review``: the texts whose labels would help most, as a table or as tasks for Label Studio."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from masker.commands.discover import keep_labelled_table
from masker.commands.text_chunks import text_chunks
from masker.config import DataSettings
from masker.discovery import DiscoverySettings
from masker.discovery.discovering import store_texts
from masker.discovery.text_store import TextStore
from masker.documents.label_studio import labelling_config, to_task
from masker.errors import ConfigError
from masker.extras import require
from masker.files import atomic_writer, write_json, write_text
from masker.labelling import Suggestion, choose_texts
from masker.labelling.label_choice import describe_judged
from masker.model import Model
from masker.progress import progress_bar


@dataclass(frozen=True)
class ReviewOptions:
    """How many texts, and where they go.

    Attributes:
        budget: Texts to choose.
        output: A ``.csv`` file, or a ``.json`` file of tasks for Label Studio.
        settings: How groups are found.
        backend, device: As for predictions.
        overwrite: Replace a file that is there, and may have labels of the user's by now.
    """

    budget: int
    output: str
    settings: DiscoverySettings = field(default_factory=DiscoverySettings)
    backend: str | None = None
    device: str = "auto"
    overwrite: bool = False


def review(folder: str, data: str, data_settings: DataSettings, options: ReviewOptions) -> dict[str, Any]:
    """Choose texts of ``data`` to label and write them; returns a JSON-ready summary.

    Raises:
        ConfigError: When the output is neither a ``.csv`` nor a ``.json`` file, or is there already, or the model gives
            several labels.
    """
    require("grouping texts", "sklearn")
    path = Path(options.output).expanduser()
    if path.suffix.lower() not in (".csv", ".json"):
        raise ConfigError(f"--output must end in .csv, or in .json for Label Studio; got '{options.output}'")
    if not options.overwrite:
        keep_labelled_table(path)
    model = Model.open(folder, options.backend, options.device)
    if model.is_multi_label:
        raise ConfigError(
            "review suggests one class for each text, and the model gives several labels; 'masker discover' shows what "
            "it rejects, and 'masker train' reads texts that you label"
        )
    with TextStore() as store:
        with progress_bar(None, "review", "doc") as bar:
            chunks = text_chunks(data, data_settings)
            read = store_texts(model, chunks, store, only_rejected=False, advance=bar.update, describe=describe_judged)
        chosen = choose_texts(model, store, options.budget, options.settings)
    files = write_suggestions(chosen, [str(label) for label in model.labels], path)
    reasons = dict(Counter(suggestion.reason for suggestion in chosen))
    return {
        "model": str(folder),
        "data": data,
        "texts": read,
        "chosen": len(chosen),
        "reasons": reasons,
        "files": files,
    }


def write_suggestions(chosen: Sequence[Suggestion], classes: Sequence[str], path: Path) -> list[str]:
    """Write a table with an empty column ``label``, or tasks and the labelling interface beside them."""
    pairs = any(suggestion.pair is not None for suggestion in chosen)
    if path.suffix.lower() == ".json":
        # How sure the model is, where what is suggested is its answer and not the name of a group.
        sure = [one.confidence if str(one.label) in classes else None for one in chosen]
        tasks = [
            to_task(one.text, one.pair, str(one.label), confidence, reason=one.reason, p_value=one.p_value)
            for one, confidence in zip(chosen, sure, strict=True)
        ]
        names = list(dict.fromkeys([*classes, *(str(one.label) for one in chosen)]))
        write_json(path, tasks)
        write_text(path.with_suffix(".xml"), labelling_config(names, pairs=pairs))
        return [str(path), str(path.with_suffix(".xml"))]
    with atomic_writer(path, newline="") as file:
        table = csv.writer(file)
        table.writerow(
            [
                "text",
                *(["text_pair"] if pairs else []),
                "label",
                "suggested",
                "reason",
                "confidence",
                "p_value",
                "is_ood",
            ]
        )
        for one in chosen:
            figures = [f"{one.confidence:.4f}", f"{one.p_value:.4f}", str(one.is_ood).lower()]
            table.writerow([one.text, *([one.pair] if pairs else []), "", one.label, one.reason, *figures])
    return [str(path)]
