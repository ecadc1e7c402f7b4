"""Complete trainings on longer documents: MASKER with its keyword stage against vanilla, and that stage's keywords."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Row, alternate, compare
from benchmarks.setting import Setting
from masker.config import DataSettings, Settings, build_settings
from masker.documents import Documents, detection_split, read_documents, subsample
from masker.keywords import KeywordSet
from masker.model import Model
from masker.training.run import TrainingRun

#: Enough not to be cross-fitted, whole, as ``masker train`` cuts them.
DOCUMENTS = 500
SEEDS = (0, 1, 2)
AGREEMENT = 0.8


def _documents(seed: int) -> Documents:
    everything = read_documents("20newsgroups:train", DataSettings(), require_labels=True)
    return subsample(detection_split(everything, everything, 0.25, seed).train, DOCUMENTS, seed)


def _settings(method: str, seed: int, **keywords: str) -> Settings:
    return build_settings({"training": {"method": method, "seed": seed}, "keywords": keywords})


def _fit(documents: Documents, settings: Settings) -> Model:
    with tempfile.TemporaryDirectory(prefix="masker-bench-") as folder:
        return Model.fit(documents, settings, Path(folder) / "work", device="cpu")


def _keywords(documents: Documents, settings: Settings) -> KeywordSet:
    with tempfile.TemporaryDirectory(prefix="masker-bench-") as folder:
        return TrainingRun(documents, documents.class_names, settings, Path(folder), "cpu").find_keywords()


def keyword_agreement(seed: int) -> float:
    """Share of the keywords of the short stage that a vanilla model trained in full gives too."""
    documents = _documents(seed)
    with tempfile.TemporaryDirectory(prefix="masker-bench-") as folder:
        model = _fit(documents, _settings("vanilla", seed)).save(Path(folder) / "vanilla")
        full = set(_keywords(documents, _settings("masker", seed, attention_model=str(model))).words)
    short = set(_keywords(documents, _settings("masker", seed)).words)
    return len(short & full) / len(full)


def run(setting: Setting, rounds: int) -> list[Row]:
    documents = _documents(0)

    def training(method: str) -> Callable[[], float]:
        def case() -> float:
            _fit(documents, _settings(method, 0))
            return 1.0

        return case

    # No warm-up: a training is long, and its first step is part of it.
    times = alternate({name: training(name) for name in ("masker", "vanilla")}, max(2, rounds - 1), 0)
    agreements = [keyword_agreement(seed) for seed in SEEDS]
    mean = sum(agreements) / len(agreements)
    return [
        compare("MASKER, whole training", "vanilla, whole training", times["masker"], times["vanilla"], at_most=2.5),
        Row("keywords of the short vanilla stage", "keywords of a vanilla model trained in full, shared",
            f"at least {AGREEMENT:g}", mean >= AGREEMENT, round(mean, 3), round(min(agreements), 3),
            round(max(agreements), 3), f"{DOCUMENTS} documents, {len(SEEDS)} class splits"),
    ]  # fmt: skip
