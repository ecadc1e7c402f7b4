"""What a stage does. Everything it needs is in the stage and in the folders of the stages it depends on."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from masker.classifier import MaskerClassifier
from masker.config import LINEAR_METHODS, Settings
from masker.experiments import analyses
from masker.experiments.data_selection import read_selections
from masker.experiments.paper_settings import with_paper_settings
from masker.experiments.recipe import RelianceOptions
from masker.experiments.reliance_audit import audit_reliance
from masker.experiments.stages import (
    KEYWORDS,
    MODEL,
    Stage,
    finish,
    is_ready,
    partial_folder,
    stage_folder,
)
from masker.inference.backend import Backend
from masker.modeling.backbone import load_backbone
from masker.modeling.devices import use_bf16
from masker.modeling.model_folder import load_manifest
from masker.progress import progress_bar
from masker.provenance import provenance, source_commit
from masker.systems import reads_encoder

Result = dict[str, Any]


def run_stage(stage: Stage, output: Path) -> None:
    """Do the work of a stage and leave its folder; does nothing when that is there already.

    An interrupted stage goes on from what lies in its ``.partial`` folder and ends with the same result.
    """
    if is_ready(stage, output):
        return
    start = time.monotonic()
    partial = partial_folder(output, stage.id)
    resumed = partial.exists()
    partial.mkdir(parents=True, exist_ok=True)
    result = _WORK[stage.kind](stage, partial, output)
    shutil.rmtree(partial / "work", ignore_errors=True)
    finish(
        output,
        stage,
        {
            "result": result,
            "took": round(time.monotonic() - start, 3),
            "resumed": resumed,
            "provenance": provenance(commit=source_commit()),
        },
    )


def _train(stage: Stage, partial: Path, output: Path) -> Result:
    settings = _settings(stage)
    if stage.depends_on:
        keywords, *start = (stage_folder(output, parent) for parent in stage.depends_on)
        settings = _with_keywords(settings, source=str(keywords / KEYWORDS))
        if start:
            settings = _with_keywords(settings, attention_model=str(start[0] / MODEL))
    documents = read_selections([stage.inputs["data"]], regression=settings.model.head == "regression")
    for leftover in partial.glob(f".{MODEL}.*"):  # of a save that was cut off
        shutil.rmtree(leftover)
    classifier = MaskerClassifier.from_settings(settings).fit_documents(documents, settings, partial / "work")
    classifier.save(partial / MODEL, overwrite=True)
    return {
        "documents": len(documents),
        "data_sha256": documents.fingerprint(),
        "classes": documents.class_names,
        "validation": classifier.validation_,
        "keywords": None if classifier.keywords_ is None else len(classifier.keywords_),
    }


def _keywords(stage: Stage, partial: Path, output: Path) -> Result:
    from masker.training.training_data import encode_corpus
    from masker.training.training_stage import find_keywords

    settings = _settings(stage)
    if stage.depends_on:
        settings = _with_keywords(settings, attention_model=str(stage_folder(output, stage.depends_on[0]) / MODEL))
    regression = settings.model.head == "regression"
    documents = read_selections([stage.inputs["data"]], regression=regression)
    classes = [] if regression else documents.class_names
    backbone = load_backbone(settings.model, classes)
    corpus = encode_corpus(documents, classes, settings, backbone)
    work = partial / "work"
    work.mkdir(exist_ok=True)
    keywords = find_keywords(settings, backbone, corpus, work)
    (partial / KEYWORDS).write_text(keywords.dumps(), encoding="utf-8")
    return {
        "source": keywords.source,
        "keywords": [{"word": keyword.word, "score": keyword.score} for keyword in keywords],
        "documents": len(documents),
        "data_sha256": documents.fingerprint(),
    }


def _evaluate(stage: Stage, partial: Path, output: Path) -> Result:
    folder = stage_folder(output, stage.depends_on[0]) / MODEL
    classifier = MaskerClassifier.load(folder, _backend(folder), stage.inputs.get("score"))
    regression = classifier.is_regression
    tests = {name: read_selections(parts, regression=regression) for name, parts in stage.inputs["tests"].items()}
    ood = {name: read_selections(parts) for name, parts in stage.inputs["ood"].items()}
    sets = {**tests, **ood}
    figures: dict[str, Any] = {}
    with progress_bar(sum(map(len, sets.values())), "evaluate", "doc") as bar:
        for position, (name, documents) in enumerate(tests.items()):
            # Out-of-distribution sets are set against the test set of the training domain, which comes first.
            report = classifier.evaluate(
                documents, ood if position == 0 else None, resamples=stage.inputs["resamples"], advance=bar.update
            )
            # A one-class model has no classes to be right about.
            figures[name] = {**(report.get("regression") or report.get("classification") or {})}
            if "false_alarms" in report:
                figures[name] |= {"false_alarms": report["false_alarms"]["realised"]}
            figures |= {other: _detection(found) for other, found in (report.get("ood") or {}).items()}
    return {
        "figures": figures,
        "documents": {name: len(documents) for name, documents in sets.items()},
        "data_sha256": {name: documents.fingerprint() for name, documents in sets.items()},
    }


def _backend(folder: Path) -> Backend:
    """Documents are scored in the precision that the model was trained in."""
    settings = Settings.model_validate(load_manifest(folder).manifest["settings"])
    linear = settings.training.method in LINEAR_METHODS
    encoder = reads_encoder(settings) if linear else not settings.is_convolutional
    return "torch-bf16" if encoder and use_bf16(settings.training.precision) else "torch"


def _detection(found: dict[str, Any]) -> dict[str, Any]:
    """Figures of an OOD set, all in one form."""
    figures = {name: value for name, value in found.items() if isinstance(value, dict) and "value" in value}
    return {**figures, "rejected": {"value": found["rejected"]}}


def _analysis(analyse: Callable[..., Result]) -> Callable[[Stage, Path, Path], Result]:
    def work(stage: Stage, partial: Path, output: Path) -> Result:
        folder = stage_folder(output, stage.depends_on[0]) / MODEL
        manifest = load_manifest(folder).manifest
        sets = {
            name: read_selections(parts) for name, parts in {**stage.inputs["tests"], **stage.inputs["ood"]}.items()
        }
        train = read_selections([stage.inputs["train"]])
        return {
            **analyse(folder, int(manifest["max_length"]), train, sets, **stage.inputs["options"]),
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
