"""Which code the figures of an experiment were made with.

Stages outlive a commit: a table written today may rest on models trained weeks ago. So every stage records the commit
and package versions it was run with, and those of the stages it depends on as they were then (a removed model may later
be trained again). Results publish these origins, and not that of the process that wrote them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Record = dict[str, Any]

#: What the record of a stage tells about how it was run.
_OWN = ("id", "kind", "took", "provenance", "begun_with")


def lineage(records: Iterable[Record]) -> list[Record]:
    """The stages behind what ``read_result`` reads, each after those it depends on: id, kind, duration, provenance."""
    found: dict[str, Record] = {}
    for record in records:
        own = {key: record[key] for key in _OWN if key in record}
        for entry in (*record["ancestors"], own):
            found[json.dumps(entry, sort_keys=True)] = entry  # a stage may have run twice, even within a second
    return list(found.values())


def stage_origins(stages: Iterable[Record]) -> list[Record]:
    """Group the stages of a :func:`lineage` by commit and package versions.

    Returns:
        For each group, oldest first: ``commit``, ``versions``, and ``stages``, the number of stages of each kind. A
        stage that was interrupted and resumed with other code belongs to both groups.
    """
    found: list[tuple[str, str, Record]] = []  # (time, kind, provenance)
    for stage in stages:
        for origin in (stage.get("begun_with"), stage["provenance"]):
            if origin is not None:
                found.append((origin["created"], stage["kind"], origin))
    groups: list[Record] = []
    for _, kind, origin in sorted(found, key=lambda entry: entry[0]):
        group = next((group for group in groups if same_code(group, origin)), None)
        if group is None:
            group = {"commit": origin["commit"], "versions": origin["versions"], "stages": {}}
            groups.append(group)
        group["stages"][kind] = group["stages"].get(kind, 0) + 1
    return groups


def same_code(one: Record, other: Record) -> bool:
    """Whether two provenance records name the same commit and package versions."""
    return bool(one["commit"] == other["commit"] and one["versions"] == other["versions"])


def latest_provenance(stages: Iterable[Record]) -> Record:
    """The provenance of the stage that finished last."""
    latest: Record = max((stage["provenance"] for stage in stages), key=lambda origin: origin["created"])
    return latest
