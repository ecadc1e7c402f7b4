"""``masker discover``: groups among the texts that a model rejects."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

from masker.commands.text_chunks import text_chunks
from masker.config import DataSettings
from masker.discovery import Discovery, DiscoverySettings, discover_groups
from masker.discovery.discovering import FoundGroups, store_texts
from masker.discovery.text_store import TextStore
from masker.errors import ConfigError
from masker.extras import require
from masker.files import atomic_writer, write_json
from masker.model import Model
from masker.progress import progress_bar

JSON, TABLE = "groups.json", "texts.csv"


@dataclass(frozen=True)
class DiscoverOptions:
    """How to look, and where files go.

    Attributes:
        settings: What counts as a group.
        output: Folder for :data:`JSON` and :data:`TABLE`; ``None`` writes neither.
        backend, device: As for predictions.
        false_alarm_rate: Another rate at which texts are rejected.
        overwrite: Replace a :data:`TABLE` that is there, and may have labels of the user's by now.
    """

    settings: DiscoverySettings = field(default_factory=DiscoverySettings)
    output: Path | None = None
    backend: str | None = None
    device: str = "auto"
    false_alarm_rate: float | None = None
    overwrite: bool = False


def discover(folder: str, data: str, data_settings: DataSettings, options: DiscoverOptions) -> Discovery:
    """Group the texts of ``data`` that the model of a folder rejects.

    Memory does not grow with the number of texts; vectors of rejected texts are kept on disk meanwhile.

    Raises:
        ConfigError: When there is a table that must not be overwritten.
        DataError: When no text is rejected.
    """
    require("grouping texts", "sklearn")
    if options.output is not None and not options.overwrite:
        keep_labelled_table(options.output / TABLE)
    model = Model.open(folder, options.backend, options.device, false_alarm_rate=options.false_alarm_rate)
    settings = options.settings
    with TextStore() as store:
        with progress_bar(None, "discover", "doc") as bar:
            chunks = text_chunks(data, data_settings)
            read = store_texts(model, chunks, store, only_rejected=settings.only_rejected, advance=bar.update)
        groups = discover_groups(model, store, settings)
        found = Discovery(
            str(folder),
            data,
            read,
            len(store),
            int((groups.labels >= 0).sum()),
            len(groups.sample),
            settings.only_rejected,
            groups.groups,
        )
        if options.output is not None:
            write_json(options.output / JSON, found.to_json())
            write_table(store, groups, options.output / TABLE)
    return found


def keep_labelled_table(path: Path) -> None:
    """Refuse to replace a table that people write labels into."""
    if path.exists():
        raise ConfigError(
            f"'{path}' exists, and may have labels of yours; choose another --output, or --overwrite replaces it"
        )


def write_table(store: TextStore, found: FoundGroups, path: Path) -> None:
    """Write the texts of all groups as labelled data: name the groups, and ``masker extend`` reads the file."""
    start = 0
    with atomic_writer(path, newline="") as file:
        table = csv.writer(file)
        for chunk in store.chunks():
            pairs = "text_pair" in chunk.records[0]
            if start == 0:
                table.writerow(["text", *(["text_pair"] if pairs else []), "label", "group"])
            for record, group in zip(chunk.records, found.labels[start : start + len(chunk.records)], strict=True):
                if group >= 0:
                    second = [record["text_pair"]] if pairs else []
                    table.writerow([record["text"], *second, found.groups[group].name, int(group) + 1])
            start += len(chunk.records)
