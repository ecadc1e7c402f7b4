"""The demonstration, in minutes on two CPU cores.

First the everyday case, two dozen messages to a support desk, with nothing set. Then vanilla against MASKER on a class
split of 20 Newsgroups.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from masker.config import DataSettings, Settings, build_settings
from masker.detection.evaluation import Resampling, evaluate_classification
from masker.detection.prediction import Prediction
from masker.documents import Documents, detection_split, read_documents, subsample
from masker.documents.texts import texts_of
from masker.errors import ConfigError
from masker.experiments.demo_posts import POSTS
from masker.experiments.support_messages import QUESTIONS, support_messages
from masker.files import write_json
from masker.model import Model
from masker.progress import progress_bar
from masker.provenance import provenance
from masker.training.work_folder import remove_work_folder

#: Small enough for a few minutes on two cores; everything else is the package's default.
TRAIN_DOCUMENTS = 930
TEST_DOCUMENTS = 400
CLASS_RATIO = 0.25
SPLIT_SEED = 0
#: A third of the documents is held out, half of it for the threshold: with fewer, one that is sure of its promise
#: would reject hardly anything.
DEMO_SETTINGS: dict[str, dict[str, Any]] = {
    "model": {"max_length": 64},
    "data": {"validation_fraction": 0.33},
    "detection": {"confidence": 0.95},
}
#: What a demonstration leaves in its folder.
_MODELS = ("support", "vanilla", "masker")
_OWN = {*_MODELS, *(f"{name}.partial" for name in _MODELS), "results.json", "report"}


@dataclass(frozen=True)
class DemoData:
    """What the demonstration trains and tests on."""

    train: Documents
    test: Documents
    ood: dict[str, Documents]


@dataclass(frozen=True)
class DemoResult:
    """What the demonstration found."""

    data: DemoData
    models: dict[str, Model]
    reports: dict[str, dict[str, Any]]
    posts: list[tuple[str, Prediction]]  # by their subject
    support: list[tuple[str, Prediction]]
    folder: Path
    seconds: float
    support_seconds: float


def load_demo_data() -> DemoData:
    """20 Newsgroups split into known and unseen classes, and two foreign corpora, all by name."""
    everything = DataSettings()
    train, test = (
        read_documents(f"20newsgroups:{part}", everything, require_labels=True) for part in ("train", "test")
    )
    train, test, unseen = detection_split(train, test, CLASS_RATIO, SPLIT_SEED)
    foreign = {
        "unseen classes": unseen,
        "Reuters": read_documents("reuters:test", everything, require_labels=False),
        "movie reviews": read_documents("rotten-tomatoes:test", everything, require_labels=False),
    }
    return DemoData(
        subsample(train, TRAIN_DOCUMENTS, SPLIT_SEED),
        subsample(test, TEST_DOCUMENTS, SPLIT_SEED),
        {name: subsample(documents, TEST_DOCUMENTS, SPLIT_SEED) for name, documents in foreign.items()},
    )


def _evaluate(method: str, models: Mapping[str, Model], data: DemoData) -> dict[str, dict[str, Any]]:
    """Figures of models that differ in their score alone; the network is run once for all of them."""
    detectors = {name: model.require_detector() for name, model in models.items()}
    kinds = sorted({kind for detector in detectors.values() for kind in detector.score.features})
    network = next(iter(models.values()))
    total = len(data.test) + sum(map(len, data.ood.values()))
    with progress_bar(total, f"evaluate {method}", "doc") as bar:
        test, *ood = (network.outputs(texts_of(part), bar.update, kinds) for part in (data.test, *data.ood.values()))
    labels, resampling = [str(label) for label in data.test.labels or []], Resampling(1000, SPLIT_SEED)
    return {
        name: evaluate_classification(
            detector,
            network.classes,
            detector.judge(test),
            labels,
            {other: detector.judge(outputs) for other, outputs in zip(data.ood, ood, strict=True)},
            resampling,
        )
        for name, detector in detectors.items()
    }


def run_demo(output: str | Path, *, device: str = "auto", restart: bool = False) -> DemoResult:
    """Train vanilla, read keywords from its attention, train MASKER, evaluate both, and keep all of it in ``output``.

    Vanilla is scored by its highest probability, MASKER by that and by the package's default.

    Raises:
        ConfigError: When ``output`` holds other files, or an unfinished demonstration of another version.
    """
    start = time.monotonic()
    folder = Path(output)
    if folder.exists() and any(entry.name not in _OWN for entry in folder.iterdir()):
        raise ConfigError(f"'{folder}' holds other files; choose another folder with --output")
    support = support_messages()
    model = Model.fit(support, Settings(), folder / "support.partial", device=device, restart=restart)
    model.save(folder / "support", overwrite=True)
    support_seconds = time.monotonic() - start
    answers = list(zip(QUESTIONS, model.predict(QUESTIONS), strict=True))
    data = load_demo_data()
    models: dict[str, Model] = {}
    reports: dict[str, dict[str, Any]] = {}
    for method in ("vanilla", "masker"):
        keywords = {} if method == "vanilla" else {"attention_model": str(folder / "vanilla")}
        score = {"score": "max-prob"} if method == "vanilla" else {}
        layers = {"training": {"method": method}, "keywords": keywords, "detection": score}
        settings = build_settings(DEMO_SETTINGS, layers)
        model = Model.fit(data.train, settings, folder / f"{method}.partial", device=device, restart=restart)
        model.save(folder / method, overwrite=True)
        models[method] = model
        shown = {method: model}
        if method == "masker":
            shown = {"masker, max-prob": model.adjusted(score="max-prob"), "masker, auto": model}
        reports |= _evaluate(method, shown, data)
    for method in _MODELS:
        remove_work_folder(folder / f"{method}.partial")
    predictions = models["masker"].predict(list(POSTS.values()))
    seconds = time.monotonic() - start
    write_json(folder / "results.json", {"reports": reports, "seconds": seconds, "provenance": provenance(seed=0)})
    posts = list(zip(POSTS, predictions, strict=True))
    return DemoResult(data, models, reports, posts, answers, folder, seconds, support_seconds)
