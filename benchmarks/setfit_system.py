"""SetFit on one task, run by its own environment: ``python -I setfit_system.py TASK.json RESULT.json``.

The task and the result have the form that masker_system.py describes. Nothing of masker is imported here.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("setfit", "sentence-transformers", "torch", "transformers", "scikit-learn", "numpy")


def auroc(known: np.ndarray, foreign: np.ndarray) -> float:
    """Area under the ROC curve; a higher score means more out-of-distribution."""
    from sklearn.metrics import roc_auc_score

    truth = np.repeat([0, 1], [len(known), len(foreign)])
    return float(roc_auc_score(truth, np.concatenate([known, foreign])))


def neighbour_distance(embeddings: np.ndarray, training: np.ndarray) -> np.ndarray:
    """Cosine distance to the nearest training text."""
    unit, reference = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (embeddings, training))
    return np.asarray(1.0 - (unit @ reference.T).max(axis=1))


def run_task(task: dict[str, Any]) -> dict[str, Any]:
    start = time.perf_counter()
    import torch
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments
    from transformers import set_seed

    torch.set_num_threads(task["threads"])
    imported = time.perf_counter()
    set_seed(task["seed"])
    model = SetFitModel.from_pretrained(task["encoder"])
    loaded = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="setfit-") as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            max_steps=task["max_steps"],
            seed=task["seed"],
            save_strategy="no",
            report_to="none",
            show_progress_bar=False,
        )
        train = Dataset.from_dict({"text": task["train"]["texts"], "label": task["train"]["labels"]})
        Trainer(model=model, args=arguments, train_dataset=train).train()
    trained_at, trained = time.time(), time.perf_counter()
    return {
        "seconds": trained - loaded,
        "load_seconds": loaded - imported,
        "import_seconds": imported - start,
        "trained_at": trained_at,
        "threads": torch.get_num_threads(),
        "versions": {package: version(package) for package in PACKAGES},
        **evaluated(model, task),
    }


def evaluated(model: Any, task: dict[str, Any]) -> dict[str, Any]:
    """Accuracy, and AUROC by highest probability and by nearest neighbour in SetFit's own embedding space."""

    def scores(texts: list[str]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        embeddings = np.asarray(model.encode(texts, show_progress_bar=False))
        probabilities = np.asarray(model.model_head.predict_proba(embeddings))
        predicted = np.asarray(model.model_head.classes_)[probabilities.argmax(axis=1)]
        distance = neighbour_distance(embeddings, training)
        return predicted, {"highest probability": -probabilities.max(axis=1), "nearest neighbour": distance}

    training = np.asarray(model.encode(task["train"]["texts"], show_progress_bar=False))
    predicted, known = scores(task["test"]["texts"])
    areas = {}
    for name, texts in task["ood"].items():
        foreign = scores(texts)[1]
        areas[name] = {score: auroc(known[score], foreign[score]) for score in known}
    return {"accuracy": float(np.mean(predicted == np.asarray(task["test"]["labels"]))), "auroc": areas}


def main(task_file: str, result_file: str) -> None:
    task = json.loads(Path(task_file).read_text(encoding="utf-8"))
    Path(result_file).write_text(json.dumps(run_task(task), indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
