"""Real texts: models of some classes of a corpus, and traffic of their own, of unseen classes and of another corpus."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.drift_streams import Stream, delays, first_alarm, watch
from masker.monitoring import MonitorSettings

#: Scores are kept here, as training takes minutes.
WORK = Path(__file__).parent.parent / "runs" / "drift"
MODEL_SEEDS = (0, 1)
STREAMS = 50  # for each model
TEXTS, CHANGE = 3500, 1000
FOREIGN = ("unseen classes", "SST-2")


@dataclass(frozen=True)
class Corpus:
    name: str
    known_share: float  # of the classes
    training_texts: int


CORPORA = (Corpus("hwu64", 0.5, 640), Corpus("snips", 0.7, 2000))
NEEDED = ("hwu64", "snips", "sst2")


def corpus_scores(corpus: Corpus, seed: int) -> dict[str, Any]:
    """Scores and predicted classes of the calibration texts, of known texts not trained on, and of foreign texts."""
    path = WORK / f"{corpus.name}-{seed}.npz"
    if path.exists():
        return dict(np.load(path, allow_pickle=False))
    from masker.config import DataSettings, build_settings
    from masker.documents import Documents, detection_split, read_documents
    from masker.metrics import auroc
    from masker.model import Model

    def read(source: str) -> Documents:
        return read_documents(source, DataSettings(), require_labels=True)

    train, test = read(f"{corpus.name}:train"), read(f"{corpus.name}:test")
    split = detection_split(train, test, corpus.known_share, seed)
    order = np.random.default_rng(seed).permutation(len(split.train)).tolist()
    training, rest = order[: corpus.training_texts], order[corpus.training_texts :]
    with tempfile.TemporaryDirectory(prefix="masker-drift-") as folder:
        model = Model.fit(split.train.take(training), build_settings(), Path(folder) / "work")
    known = set(split.train.class_names)
    unseen = [text for text, label in zip(train.texts, train.labels or [], strict=True) if label not in known]
    groups = {
        "quiet": [*split.train.take(rest).texts, *split.test.texts],
        "unseen classes": [*unseen, *split.unseen.texts],
        "SST-2": [*read("sst2:test").texts, *read("sst2:official_test").texts],
    }
    calibration = model.require_detector().calibration
    found: dict[str, Any] = {"calibration": calibration.scores, "calibration labels": calibration.predicted}
    for name, texts in groups.items():
        judged = model.judge(texts)
        found[name], found[f"{name} labels"] = judged.scores, judged.predicted
    found["classes"] = np.array(len(model.classes))
    found["auroc"] = np.array([auroc(found["quiet"], found[name]) for name in FOREIGN])
    WORK.mkdir(parents=True, exist_ok=True)
    np.savez(path, **found)
    return found


def corpus_stream(scores: dict[str, Any], foreign: str | None, share: float, seed: int) -> Stream:
    """Known texts in random order; from text CHANGE on a share of them is replaced by foreign ones, none twice."""
    draw = np.random.default_rng(seed)
    quiet = draw.permutation(len(scores["quiet"]))[:TEXTS]
    values, labels = scores["quiet"][quiet], scores["quiet labels"][quiet]
    if foreign is not None:
        replaced = draw.random(len(values)) < share
        replaced[:CHANGE] = False
        chosen = draw.permutation(len(scores[foreign]))[: int(replaced.sum())]
        values[replaced], labels[replaced] = scores[foreign][chosen], scores[f"{foreign} labels"][chosen]
    return Stream(scores["calibration"], scores["calibration labels"], values, labels)


def measure_corpus(corpus: Corpus, shares: tuple[float, ...]) -> dict[str, Any]:
    models = [corpus_scores(corpus, seed) for seed in MODEL_SEEDS]
    print(f"{corpus.name}: scores of {len(models)} models", file=sys.stderr)
    settings = MonitorSettings()

    def firsts(foreign: str | None, share: float) -> list[int | None]:
        return [
            first_alarm(
                watch(corpus_stream(scores, foreign, share, seed), settings, classes=range(int(scores["classes"])))
            )
            for scores in models
            for seed in range(STREAMS)
        ]

    quiet = firsts(None, 0.0)
    return {
        "classes": [int(scores["classes"]) for scores in models],
        "calibration": [len(scores["calibration"]) for scores in models],
        "auroc": {name: [float(scores["auroc"][place]) for scores in models] for place, name in enumerate(FOREIGN)},
        "quiet": {"streams": len(quiet), "texts": TEXTS, "alarms": sum(first is not None for first in quiet)},
        "delays": {name: {str(share): delays(firsts(name, share), CHANGE) for share in shares} for name in FOREIGN},
    }
