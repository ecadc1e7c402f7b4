"""The work of a stage. All it needs is in the stage and in the folders of the stages it depends on."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from masker.analysis.paper_figures import Subject, attended_words, class_keyword_rates, embed_in_plane
from masker.audit import open_audited_model
from masker.config import Settings, stored_settings
from masker.documents import Documents
from masker.experiments.cost import has_encoder
from masker.experiments.data_selection import read_selections
from masker.experiments.grid_search import search_grid, with_pair
from masker.experiments.open_world import OpenWorld, measure_part
from masker.experiments.origins import same_code
from masker.experiments.paper_settings import with_paper_settings
from masker.experiments.recipe_parts import OPEN_SET_METRICS, RelianceOptions
from masker.experiments.reliance_audit import audit_reliance
from masker.experiments.stages import (
    KEYWORDS,
    MODEL,
    Stage,
    finish_stage,
    is_ready,
    partial_folder,
    read_result,
    stage_folder,
)
from masker.files import write_json, write_text
from masker.inference.backend import BackendName
from masker.model import Model
from masker.modeling.devices import reads_bf16, resolve_device
from masker.modeling.model_folder import load_manifest
from masker.progress import progress_bar
from masker.provenance import provenance, source_commit
from masker.training.run import TrainingRun

Result = dict[str, Any]

#: In the folder of an unfinished stage: the code that began it.
_BEGUN = "begun.json"


@dataclass(frozen=True)
class _Task:
    """A stage, the folder it works in, the output folder, and where its network runs."""

    stage: Stage
    partial: Path
    output: Path
    device: str

    @property
    def inputs(self) -> dict[str, Any]:
        return self.stage.inputs

    @property
    def parents(self) -> list[Path]:
        return [stage_folder(self.output, name) for name in self.stage.depends_on]

    def settings(self, **keywords: str) -> Settings:
        """The stored settings, with some about keywords replaced."""
        settings = Settings.model_validate(with_paper_settings(self.inputs["settings"]))
        return settings.model_copy(update={"keywords": settings.keywords.model_copy(update=keywords)})

    def read(self, key: str, *, regression: bool = False) -> dict[str, Documents]:
        return {name: read_selections(parts, regression=regression) for name, parts in self.inputs[key].items()}


def run_stage(stage: Stage, output: Path, device: str = "auto") -> None:
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
    result = _WORK[stage.kind](_Task(stage, partial, output, device))
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


def _training_settings(task: _Task) -> tuple[Settings, dict[str, Any]]:
    """The settings of a training, with what the stages before it have chosen; and the pair of a search, if there is."""
    parents, pair = task.parents, {}
    if task.inputs.get("grid"):
        *parents, search = parents
        pair = read_result(task.output, search.name)["result"]["chosen"]
    # Absolute, because an interrupted training resumes with the same settings only.
    keywords = {"source": str((parents[0] / KEYWORDS).resolve())} if parents else {}
    return with_pair(task.settings(**keywords), pair), pair


def _grid(task: _Task) -> Result:
    settings, _ = _training_settings(task)
    documents = read_selections([task.inputs["data"]], regression=settings.model.head == "regression")
    found = search_grid(documents, settings, task.inputs["pairs"], task.partial / "work", task.device)
    return {**found, "documents": len(documents), "data_sha256": documents.fingerprint()}


def _train(task: _Task) -> Result:
    settings, pair = _training_settings(task)
    parts = [task.inputs["data"], *([task.inputs["added"]] if "added" in task.inputs else [])]
    documents = read_selections(parts, regression=settings.model.head == "regression")
    for leftover in task.partial.glob(f".{MODEL}.*"):  # from a save that was interrupted
        shutil.rmtree(leftover)
    model = Model.fit(documents, settings, task.partial / "work", device=task.device)
    model.save(task.partial / MODEL, overwrite=True)
    return {
        "documents": len(documents),
        "data_sha256": documents.fingerprint(),
        "classes": documents.class_names,
        "validation": model.validation,
        "keywords": None if model.keywords is None else len(model.keywords),
        **({"chosen": pair} if pair else {}),
    }


def _keywords(task: _Task) -> Result:
    settings = task.settings(attention_model=str(task.parents[0] / MODEL)) if task.parents else task.settings()
    regression = settings.model.head == "regression"
    documents = read_selections([task.inputs["data"]], regression=regression)
    classes = [] if regression else documents.class_names
    keywords = TrainingRun(documents, classes, settings, task.partial / "work", task.device).find_keywords()
    write_text(task.partial / KEYWORDS, keywords.dumps())
    return {
        "source": keywords.source,
        "keywords": [{"word": keyword.word, "score": keyword.score} for keyword in keywords],
        "documents": len(documents),
        "data_sha256": documents.fingerprint(),
    }


def _evaluate(task: _Task) -> Result:
    folder = task.parents[0] / MODEL
    model = Model.open(folder, _backend(folder, task.device), task.device, task.inputs.get("score"))
    tests, ood = task.read("tests", regression=model.is_regression), task.read("ood")
    figures: dict[str, Any] = {}
    with progress_bar(sum(map(len, (*tests.values(), *ood.values()))), "evaluate", "doc") as bar:
        for position, (name, documents) in enumerate(tests.items()):
            # Out-of-distribution sets are compared with the test set of the training domain, which comes first.
            report = model.evaluate(
                documents, ood if position == 0 else None, resamples=task.inputs["resamples"], advance=bar.update
            )
            # A one-class model has no classification figures.
            figures[name] = {**(report.get("regression") or report.get("classification") or {})}
            if "false_alarms" in report:
                figures[name] |= {"false_alarms": report["false_alarms"]["realised"]}
            figures |= {other: _detection(found) for other, found in (report.get("ood") or {}).items()}
    return {"figures": figures, **_described({**tests, **ood})}


def _backend(folder: Path, device: str) -> BackendName:
    """The backend with the precision that the model was trained in."""
    settings = stored_settings(load_manifest(folder).manifest["settings"])
    bf16 = has_encoder(settings) and reads_bf16(settings.training.precision, resolve_device(device))
    return "torch-bf16" if bf16 else "torch"


def _detection(found: dict[str, Any]) -> dict[str, Any]:
    figures = {name: value for name, value in found.items() if isinstance(value, dict) and "value" in value}
    decisions = {name: found["open_set"][theirs] for name, theirs in OPEN_SET_METRICS.items()}
    return {**figures, **decisions, "rejected": {"value": found["rejected"]}}


def _analysis(analyse: Callable[..., Result]) -> Callable[[_Task], Result]:
    def work(task: _Task) -> Result:
        sets = {**task.read("tests"), **task.read("ood")}
        model = Model.open(task.parents[0] / MODEL, device=task.device)
        subject = Subject(model, read_selections([task.inputs["train"]]), sets)
        return {**analyse(subject, **task.inputs["options"]), **_described(sets)}

    return work


def _reliance(task: _Task) -> Result:
    folder, keywords = task.parents
    sets = task.read("tests")
    [documents] = sets.values()
    model = open_audited_model(str(folder / MODEL), device=task.device)
    options = RelianceOptions.model_validate(task.inputs["options"])
    return {"audits": audit_reliance(model, keywords / KEYWORDS, documents, options), **_described(sets)}


def _open_world(task: _Task) -> Result:
    tests, ood = task.read("tests"), task.read("ood")
    nothing = Documents([], None, [], "")
    known = next(iter(tests.values()), nothing)
    unseen, foreign = [*ood.values(), nothing][:2]
    labelled = read_selections([task.inputs["labelled"]]) if "labelled" in task.inputs else nothing
    if task.stage.kind == "review":  # nobody labels a text that the model was trained on
        trained = set(read_selections([task.inputs["train"]]).texts)
        labelled = labelled.take([row for row, text in enumerate(labelled.texts) if text not in trained])
    models = [Model.open(folder / MODEL, device=task.device) for folder in task.parents]
    world = OpenWorld(known, unseen, foreign, labelled, task.inputs["seed"])
    figures = measure_part(task.stage.kind, models, world, task.inputs["options"])
    return {**figures, **_described({**tests, **ood})}


def _described(sets: dict[str, Documents]) -> Result:
    return {
        "documents": {name: len(documents) for name, documents in sets.items()},
        "data_sha256": {name: documents.fingerprint() for name, documents in sets.items()},
    }


_WORK: dict[str, Callable[[_Task], Result]] = {
    "train": _train,
    "keywords": _keywords,
    "grid": _grid,
    "evaluate": _evaluate,
    "heatmap": _analysis(class_keyword_rates),
    "tsne": _analysis(embed_in_plane),
    "attention": _analysis(attended_words),
    "reliance": _reliance,
    "discover": _open_world,
    "extend": _open_world,
    "review": _open_world,
}
