"""masker on one task, in a process of its own: ``python -m benchmarks.masker_system METHOD TASK.json RESULT.json``.

A task has ``train`` and ``test`` (``texts`` and ``labels``), ``ood`` (texts by name of the set), ``seed``, ``threads``,
and for SetFit ``encoder`` (a folder) and ``max_steps``. A result has ``seconds`` (training, up to a model that can
predict), ``load_seconds`` and ``import_seconds`` beside it, ``trained_at`` (time of day), ``accuracy``, ``auroc`` (by
name of the set, then of the score), ``rejected`` (shares, by name of the set), ``threads`` and ``versions``.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

#: Takes the place of a method: no setting changed but the seed.
DEFAULT = "default"


def run_task(method: str, task: dict[str, Any]) -> dict[str, Any]:
    start = time.perf_counter()
    import torch

    from masker.config import build_settings
    from masker.documents import Documents
    from masker.model import Model
    from masker.provenance import provenance

    # Imports are not training; Model.fit puts these off until they are needed.
    import_module("masker.detection.training_and_calibration")
    import_module("sklearn.linear_model")

    torch.set_num_threads(task["threads"])
    chosen = {} if method == DEFAULT else {"method": method}
    settings = build_settings({"training": {"seed": task["seed"], **chosen}})
    documents = Documents(task["train"]["texts"], None, task["train"]["labels"], "train")
    imported = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="masker-bench-") as folder:
        model = Model.fit(documents, settings, Path(folder) / "work", device="cpu")
    trained_at, trained = time.time(), time.perf_counter()
    return {
        "seconds": trained - imported,  # reading the encoder included
        "load_seconds": 0.0,
        "import_seconds": imported - start,
        "trained_at": trained_at,
        "threads": torch.get_num_threads(),
        "versions": provenance()["versions"],
        **evaluated(model, task),
    }


def evaluated(model: Any, task: dict[str, Any]) -> dict[str, Any]:
    """Accuracy, AUROC by the model's own score, and the shares of texts it rejects."""
    from masker.metrics import accuracy, auroc

    known = model.predict(task["test"]["texts"])
    foreign = {name: model.predict(texts) for name, texts in task["ood"].items()}
    known_scores = [prediction.ood_score for prediction in known]
    return {
        "accuracy": accuracy(task["test"]["labels"], [prediction.label for prediction in known]),
        "auroc": {
            name: {"own score": auroc(known_scores, [prediction.ood_score for prediction in predictions])}
            for name, predictions in foreign.items()
        },
        "rejected": {
            name: sum(prediction.is_ood for prediction in predictions) / len(predictions)
            for name, predictions in {"test": known, **foreign}.items()
        },
    }


def main(method: str, task_file: str, result_file: str) -> None:
    task = json.loads(Path(task_file).read_text(encoding="utf-8"))
    Path(result_file).write_text(json.dumps(run_task(method, task), indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
