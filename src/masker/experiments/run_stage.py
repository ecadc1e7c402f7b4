"""The work of a stage. All it needs is in the stage and in the folders of the stages it depends on."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from masker.config import Settings, stored_settings
from masker.experiments import analyses
from masker.experiments.data_selection import read_selections
from masker.experiments.origins import same_code
from masker.experiments.paper_settings import with_paper_settings
from masker.experiments.recipe_parts import RelianceOptions
from masker.experiments.reliance_audit import audit_reliance
from masker.experiments.stages import (
    KEYWORDS,
    MODEL,
    Stage,
    finish_stage,
    is_ready,
    partial_folder,
    stage_folder,
)
from masker.files import write_json, write_text
from masker.model import Model
from masker.modeling.devices import reads_bf16, resolve_device
from masker.modeling.model_folder import load_manifest
from masker.progress import progress_bar
from masker.provenance import provenance, source_commit
from masker.registry import METHODS
from masker.training.run import TrainingRun

Result = dict[str, Any]

#: In the folder of an unfinished stage: the code that began it.
_BEGUN = "begun.json"


def run_stage(stage: Stage, output: Path) -> None:
    """Do the work of a stage and leave its folder; does nothing if that is complete.

    An interrupted stage resumes from its ``.partial`` folder and ends with the same result. The record names the code
    that ran the stage, and also the code that began it if that was another.
    """
    if is_ready(stage, output):
        return
    start = time.monotonic()
    partial = partial_folder(output, stage.id)
    resumed = partial.exists()
    partial.mkdir(parents=True, exist_ok=True)
    begun = _begun_with(partial, provenance(commit=source_commit()))
    result = _WORK[stage.kind](stage, partial, output)
    shutil.rmtree(partial / "work", ignore_errors=True)
    (partial / _BEGUN).unlink()
    now = provenance(commit=source_commit())  # the commit was read at the start, and is the code in memory
    record = {"result": result, "took": round(time.monotonic() - start, 3), "resumed": resumed, "provenance": now}
    finish_stage(output, stage, record if same_code(begun, now) else {**record, "begun_with": begun})


def _begun_with(partial: Path, origin: dict[str, Any]) -> dict[str, Any]:
    """The provenance of the first attempt at a stage, which may be this one."""
    path = partial / _BEGUN
    if not path.is_file():
        write_json(path, origin)
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _train(stage: Stage, partial: Path, output: Path) -> Result:
    settings = _settings(stage)
    if stage.depends_on:
        settings = _with_keywords(settings, source=str(stage_folder(output, stage.depends_on[0]) / KEYWORDS))
    documents = read_selections([stage.inputs["data"]], regression=settings.model.head == "regression")
    for leftover in partial.glob(f".{MODEL}.*"):  # from a save that was interrupted
        shutil.rmtree(leftover)
    model = Model.fit(documents, settings, partial / "work")
    model.save(partial / MODEL, overwrite=True)
    return {
        "documents": len(documents),
        "data_sha256": documents.fingerprint(),
        "classes": documents.class_names,
        "validation": model.validation,
        "keywords": None if model.keywords is None else len(model.keywords),
    }


def _keywords(stage: Stage, partial: Path, output: Path) -> Result:
    settings = _settings(stage)
    if stage.depends_on:
        settings = _with_keywords(settings, attention_model=str(stage_folder(output, stage.depends_on[0]) / MODEL))
    regression = settings.model.head == "regression"
    documents = read_selections([stage.inputs["data"]], regression=regression)
    classes = [] if regression else documents.class_names
    keywords = TrainingRun(documents, classes, settings, partial / "work").find_keywords()
    write_text(partial / KEYWORDS, keywords.dumps())
    return {
        "source": keywords.source,
        "keywords": [{"word": keyword.word, "score": keyword.score} for keyword in keywords],
        "documents": len(documents),
        "data_sha256": documents.fingerprint(),
    }


def _evaluate(stage: Stage, partial: Path, output: Path) -> Result:
    folder = stage_folder(output, stage.depends_on[0]) / MODEL
    model = Model.open(folder, _backend(folder), score=stage.inputs.get("score"))
    regression = model.is_regression
    tests = {name: read_selections(parts, regression=regression) for name, parts in stage.inputs["tests"].items()}
    ood = {name: read_selections(parts) for name, parts in stage.inputs["ood"].items()}
    sets = {**tests, **ood}
    figures: dict[str, Any] = {}
    with progress_bar(sum(map(len, sets.values())), "evaluate", "doc") as bar:
        for position, (name, documents) in enumerate(tests.items()):
            # Out-of-distribution sets are compared with the test set of the training domain, which comes first.
            report = model.evaluate(
                documents, ood if position == 0 else None, resamples=stage.inputs["resamples"], advance=bar.update
            )
            # A one-class model has no classification figures.
            figures[name] = {**(report.get("regression") or report.get("classification") or {})}
            if "false_alarms" in report:
                figures[name] |= {"false_alarms": report["false_alarms"]["realised"]}
            figures |= {other: _detection(found) for other, found in (report.get("ood") or {}).items()}
    return {
        "figures": figures,
        "documents": {name: len(documents) for name, documents in sets.items()},
        "data_sha256": {name: documents.fingerprint() for name, documents in sets.items()},
    }


def _backend(folder: Path) -> str:
    """The backend with the precision that the model was trained in, on the device that will run it."""
    stored = load_manifest(folder)
    settings = stored_settings(stored.manifest["settings"])
    fine_tuned = METHODS.get(settings.training.method).fine_tuned
    encoder = not settings.is_convolutional if fine_tuned else "features.idf" not in stored.tensors
    return "torch-bf16" if encoder and reads_bf16(settings.training.precision, resolve_device()) else "torch"


def _detection(found: dict[str, Any]) -> dict[str, Any]:
    """The figures of an OOD set, all in the same form."""
    figures = {name: value for name, value in found.items() if isinstance(value, dict) and "value" in value}
    return {**figures, "rejected": {"value": found["rejected"]}}


def _analysis(analyse: Callable[..., Result]) -> Callable[[Stage, Path, Path], Result]:
    def work(stage: Stage, partial: Path, output: Path) -> Result:
        folder = stage_folder(output, stage.depends_on[0]) / MODEL
        sets = {
            name: read_selections(parts) for name, parts in {**stage.inputs["tests"], **stage.inputs["ood"]}.items()
        }
        train = read_selections([stage.inputs["train"]])
        subject = analyses.Subject(folder, int(load_manifest(folder).manifest["max_length"]), train, sets)
        return {
            **analyse(subject, **stage.inputs["options"]),
            "documents": {name: len(documents) for name, documents in sets.items()},
            "data_sha256": {name: documents.fingerprint() for name, documents in sets.items()},
        }

    return work


def _reliance(stage: Stage, partial: Path, output: Path) -> Result:
    model, keywords = (stage_folder(output, parent) for parent in stage.depends_on)
    [(name, parts)] = stage.inputs["tests"].items()
    documents = read_selections(parts)
    options = RelianceOptions.model_validate(stage.inputs["options"])
    return {
        "audits": audit_reliance(model / MODEL, keywords / KEYWORDS, documents, options),
        "documents": {name: len(documents)},
        "data_sha256": {name: documents.fingerprint()},
    }


def _settings(stage: Stage) -> Settings:
    return Settings.model_validate(with_paper_settings(stage.inputs["settings"]))


def _with_keywords(settings: Settings, **values: str) -> Settings:
    return settings.model_copy(update={"keywords": settings.keywords.model_copy(update=values)})


_WORK: dict[str, Callable[[Stage, Path, Path], Result]] = {
    "train": _train,
    "keywords": _keywords,
    "evaluate": _evaluate,
    "heatmap": _analysis(analyses.class_keyword_rates),
    "tsne": _analysis(analyses.embed_in_plane),
    "attention": _analysis(analyses.attended_words),
    "reliance": _reliance,
}
