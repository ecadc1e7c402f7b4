"""The whole loop: train on some classes, group what the model rejects, name the groups, extend the model.

    python examples/open_world.py [FOLDER]

The data are made-up messages to the support of a shop. The model knows four kinds of them; the traffic also has two
that it has never seen. Takes about a minute on two cores. FOLDER (default: runs/open-world-example) keeps the files,
and may be removed.

Every step is a call behind a command: ``masker train``, ``predict``, ``discover`` and ``extend`` do the same.
"""

from __future__ import annotations

import csv
import random
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from masker import Documents, Model
from masker.commands.discover import DiscoverOptions, discover
from masker.commands.extend import ExtendOptions, extend
from masker.commands.train import train
from masker.config import DataSettings, Settings

ITEMS = (
    *("lamp", "jacket", "backpack", "kettle", "desk", "headphones", "blue shoes", "garden chair"),
    *("phone case", "rug"),
)
KNOWN = {
    "delivery": (
        "Where is the parcel with my {}?",
        "The {} should have been here on Monday.",
        "The courier left the {} with the wrong neighbour.",
        "It says delivered, but the {} has not arrived.",
        "Can you send the {} to my office instead?",
        "When will you ship the {}?",
    ),
    "refund": (
        "I want my money back for the {}.",
        "You charged my card twice for the {}.",
        "I sent the {} back two weeks ago and got no refund.",
        "How long until the money for the {} is on my account?",
        "Please cancel the {} and pay back what I paid.",
        "The {} broke on the first day, so refund me.",
    ),
    "account": (
        "I forgot my password and cannot order the {}.",
        "The site says that my account is locked when I buy the {}.",
        "The code to sign in never comes, and the {} is still in my basket.",
        "How do I change the e-mail address of my profile? I ordered the {} with it.",
        "I cannot log in to see my order of the {}.",
        "Please delete my account; the {} was my last order.",
    ),
    "product": (
        "Does the {} come in a larger size?",
        "Is the {} still in stock?",
        "What is the {} made of?",
        "Can the {} be washed?",
        "How heavy is the {}?",
        "Is there a cheaper version of the {}?",
    ),
}
UNKNOWN = {
    "invoice": (
        "I need an invoice with the address of my company for the {}.",
        "The invoice for the {} shows the wrong VAT number.",
        "Our bookkeeping asks for the bill of the {} as a PDF.",
        "Please put our tax number on the invoice for the {}.",
        "Where can I download the invoice of the {}?",
        "Can you write the bill for the {} to my employer?",
    ),
    "job": (
        "Do you have jobs for people who sell things like the {}?",
        "I would like to apply for a job in the team that designs the {}.",
        "Are you hiring somebody to repair the {}?",
        "Whom do I send my application for the job with the {}?",
        "Is there an internship where the {} is made?",
        "What salary do you pay for selling the {}?",
    ),
}
TRAINED, TODAY, TOMORROW = 20, 20, 20  # messages of each kind


def messages(kinds: dict[str, tuple[str, ...]], first: int, count: int) -> Documents:
    """``count`` messages of each kind, in an order that is always the same."""
    rows = []
    for label, forms in kinds.items():
        texts = [form.format(item) for form in forms for item in ITEMS]
        random.Random(label).shuffle(texts)
        rows += [(text, label) for text in texts[first : first + count]]
    return Documents([text for text, _ in rows], None, [label for _, label in rows], "made-up messages")


def write(rows: list[list[str]], path: Path) -> str:
    """Write a CSV file; returns its path."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return str(path)


def name_groups(found: Any, table: Path, answers: dict[str, Any]) -> tuple[dict[str, str], list[list[str]]]:
    """Name the groups as somebody would who reads the examples of each; returns the names, and all texts with them.

    Here the answers are known: a group is named after what most of its examples are.
    """
    names = {
        group.name: Counter(str(answers[text]) for text in group.middle).most_common(1)[0][0] for group in found.groups
    }
    with table.open(newline="", encoding="utf-8") as file:
        return names, [[row["text"], names[row["label"]]] for row in csv.DictReader(file)]


def figures(model: Model, known: Documents, unknown: Documents) -> dict[str, float]:
    """Shares of tomorrow's messages that are rejected, and that get the right answer."""
    found = {}
    for name, documents in (("known", known), ("new", unknown)):
        judged = model.judge(documents.texts)
        found[f"rejected, {name}"] = float(judged.rejected.mean())
        right = np.array(model.classes)[judged.predicted] == np.array(documents.labels)
        found[f"right, {name}"] = float((right & ~judged.rejected).mean())
    return found


def main(folder: Path) -> dict[str, Any]:
    """Run the loop and print what happens; returns the figures before and after."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    today = messages(KNOWN | UNKNOWN, TRAINED, TODAY)
    known, unknown = (messages(kinds, TRAINED + TODAY, TOMORROW) for kinds in (KNOWN, UNKNOWN))

    print(f"1. Train on {TRAINED} messages of each of {len(KNOWN)} kinds: {', '.join(KNOWN)}.")
    old = messages(KNOWN, 0, TRAINED)
    data = write([["text", "label"], *map(list, zip(old.texts, old.labels or [], strict=True))], folder / "train.csv")
    before = figures(train(data, folder / "model", Settings()).model, known, unknown)

    print(f"2. Today's traffic: {TODAY} messages of each kind, and of two that are new.")
    traffic = write([["text"], *([text] for text in today.texts)], folder / "today.csv")
    found = discover(str(folder / "model"), traffic, DataSettings(), DiscoverOptions(output=folder / "groups"))
    print(f"   {found.to_json()['sentence']}")

    print("3. Name the groups.")
    answers = dict(zip(today.texts, today.labels or [], strict=True))
    names, rows = name_groups(found, folder / "groups" / "texts.csv", answers)
    for group in found.groups:
        print(f"   {group.name} ({group.texts} texts, such as: {group.middle[0]}) -> {names[group.name]}")

    print("4. Extend the model.")
    labelled = write([["text", "label"], *rows], folder / "labelled.csv")
    report = extend(str(folder / "model"), labelled, DataSettings(), ExtendOptions(output=str(folder / "model2")))
    print(f"   {report['texts']} texts, {report['classes']} classes, no training")

    after = figures(Model.open(folder / "model2"), known, unknown)
    print(f"5. Tomorrow's traffic, {len(known)} messages of known kinds and {len(unknown)} of the new ones:")
    for name, value in before.items():
        print(f"   {name}: {100 * value:.0f} % before, {100 * after[name]:.0f} % after")
    promised = report["promised"]
    print(f"   promised: at most {100 * promised:.0f} % of the messages of known kinds are rejected, on average")
    return {"before": before, "after": after, "new_classes": report["new_classes"], "promised": promised}


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/open-world-example"))
