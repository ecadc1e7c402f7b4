"""What a stage of the analysis ``open-world`` is given: planned selections, and the options of its part."""

from __future__ import annotations

from typing import Any

from masker.errors import ConfigError
from masker.experiments.recipe_parts import ExtendPart, OpenWorldOptions, OpenWorldPart
from masker.experiments.run_settings import RunCoordinates

Planned = dict[str, Any]


def part_inputs(
    part: OpenWorldPart,
    options: OpenWorldOptions,
    data: Planned,
    sets: tuple[dict[str, list[Planned]], ...],
    run: RunCoordinates,
) -> dict[str, Any]:
    """The inputs of a part, and nothing that it does not read: its stage stays finished if another part changes.

    Args:
        data: The training documents.
        sets: The labelled test sets, of which the first is taken, and the others: texts of the unseen classes, then of
            another corpus.
    """
    tests, ood = sets
    unseen = [name for name, parts in ood.items() if all(one["classes"] == "unseen" for one in parts)]
    foreign = [name for name in ood if name not in unseen]
    if data["class_ratio"] is None or len(unseen) != 1 or len(foreign) != 1:
        raise ConfigError(
            f"source '{run.source}': the analysis 'open-world' needs train with a class_ratio below 1, and two sets "
            f"under ood: one with classes 'unseen', one of another corpus; got {', '.join(ood) or 'none'}"
        )
    inputs: dict[str, Any] = {"train": data, "seed": run.seed, "options": getattr(options, part).model_dump()}
    inputs |= {"tests": {}, "ood": {unseen[0]: ood[unseen[0]]}}
    if part == "discover":
        return inputs
    inputs |= {"tests": dict([next(iter(tests.items()))]), "ood": {name: ood[name] for name in (*unseen, *foreign)}}
    return {**inputs, "labelled": new_documents(data, options.extend) if part == "extend" else all_documents(data)}


def new_documents(data: Planned, options: ExtendPart) -> Planned:
    """A few documents of each class that is not among those of the training documents."""
    return {**data, "classes": "unseen", "per_class": options.new_texts, "documents": None}


def all_documents(data: Planned) -> Planned:
    """The documents of all classes of the training corpus, those trained on included."""
    whole = {key: value for key, value in data.items() if key not in ("class_seed", "per_class")}
    return {**whole, "class_ratio": None, "classes": "seen", "documents": None}
