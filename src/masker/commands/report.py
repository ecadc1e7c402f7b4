"""``masker report``: what the report of a model shows, from the model and whatever documents are given."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from masker.analysis.answers import Answered, describe_answers, held_out_answers
from masker.analysis.conclusion import conclude
from masker.analysis.document_map import map_documents
from masker.analysis.keyword_views import attended_by, keyword_lists, rates_of_keywords
from masker.analysis.report_data import AttendedWords, DocumentMap, ModelFacts, Report
from masker.analysis.risky_texts import risky_texts
from masker.analysis.score_curves import detection_curve, score_histogram
from masker.config import DataSettings, Head
from masker.detection.detector import Judgement
from masker.detection.evaluation import Resampling, evaluate_classification, evaluate_regression
from masker.documents import Documents, read_documents
from masker.documents.sources import short_name
from masker.documents.texts import texts_of
from masker.errors import ConfigError, DataError, ModelError
from masker.labels import class_indices
from masker.model import Model
from masker.model_evaluation import evaluation_report
from masker.modeling.model_folder import MANIFEST
from masker.progress import progress_bar

_log = logging.getLogger("masker")


@dataclass(frozen=True)
class ReportSources:
    """What to report on; every source is a file, a corpus by name, or a data set of the hub.

    Attributes:
        test: Labelled texts of the model's classes.
        ood: Foreign texts.
        train: The training texts, for the keywords of both schemes and of each class.
        target: Labelled texts of another domain.
    """

    test: str | None = None
    ood: tuple[str, ...] = ()
    train: str | None = None
    target: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportDocuments:
    """The documents of a report; sets have short names."""

    test: Documents | None = None
    ood: Mapping[str, Documents] = field(default_factory=dict)
    train: Documents | None = None
    target: Mapping[str, Documents] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportOptions:
    """What a report is called and contains.

    Attributes:
        name: The model's name in titles.
        compare: A second model by name, whose attended words are shown beside the first one's.
        resamples: Resamples behind the bootstrap intervals.
        with_texts: Whether texts are quoted.
    """

    name: str = "model"
    compare: Mapping[str, Model] = field(default_factory=dict)
    resamples: int = 1000
    with_texts: bool = True


def find_model_folders(path: str | Path) -> list[Path]:
    """The model to report on and, of a run, one to compare it with.

    Args:
        path: A model folder, or the folder of a run with models in it, such as that of ``masker demo``: MASKER is
            compared with vanilla if both are there.

    Raises:
        ConfigError: When there is no model, or several that nothing tells apart.
    """
    folder = Path(path).expanduser()
    if (folder / MANIFEST).is_file() or not folder.is_dir():
        return [folder]
    models = {file.parent.name: file.parent for file in sorted(folder.glob(f"*/{MANIFEST}"))}
    if len(models) == 1:
        return list(models.values())
    if "masker" in models:
        return [models[name] for name in ("masker", "vanilla") if name in models]
    if not models:
        return [folder]  # opening it says what is wrong
    raise ConfigError(f"'{path}' holds several models ({', '.join(models)}); name one, such as {folder / min(models)}")


def read_report_documents(sources: ReportSources, settings: DataSettings, *, head: Head) -> ReportDocuments:
    """Read the sources; ``settings.where`` and ``settings.limit`` apply to the test set alone."""
    whole = settings.all_rows()

    def read(source: str | None, given: DataSettings, *, labels: bool) -> Documents | None:
        if source is None:
            return None
        return read_documents(source, given, require_labels=labels, head=head if labels else "multi-class")

    def named(paths: tuple[str, ...], *, labels: bool) -> dict[str, Documents]:
        found: dict[str, Documents] = {}
        for path in paths:
            name = short_name(path)
            found[path if name in found else name] = read_documents(path, whole, require_labels=labels)
        return found

    return ReportDocuments(
        read(sources.test, settings, labels=True),
        named(sources.ood, labels=False),
        read(sources.train, whole, labels=True),
        named(sources.target, labels=True),
    )


def report_on(model: Model, documents: ReportDocuments, options: ReportOptions | None = None) -> Report:
    """Everything the report of a model shows."""
    options = options or ReportOptions()
    if model.is_multi_label:
        if documents.test is not None or documents.target:
            raise ConfigError("the report shows one class for each text; measure several labels with 'masker evaluate'")
        documents = ReportDocuments(ood=documents.ood)  # what is shown of training texts is shown by class
    shown: dict[str, Any] = {"evaluation": None}
    if model.is_regression:
        shown = _regression(model, documents, options)
    elif model.detector is not None:
        shown = _classification(model, documents, options)
    source = documents.train or documents.test
    targets = {**({} if documents.test is None else {"test": documents.test}), **documents.target}
    facts = _facts(model, options.name)
    return Report(
        facts,
        conclude(facts, shown["evaluation"], shown.get("known"), shown.get("detection")),
        **shown,
        losses=model.losses,
        keywords=keyword_lists(model, documents.train),
        keyword_rates=None if source is None else rates_of_keywords(model, source, targets or {"training": source}),
        maps=_maps(model, documents, options),
        attended=_attended(model, documents, options),
        decisions=model.provenance.get("decisions", {}),
        settings=model.settings.model_dump(),
        provenance={key: value for key, value in model.provenance.items() if key != "decisions"},
    )


def _attended(model: Model, documents: ReportDocuments, options: ReportOptions) -> list[AttendedWords]:
    """The words attended to in the first target set, else in the test set, else, to compare models, in training."""
    training = documents.train if options.compare else None
    for name, shown in (*documents.target.items(), ("test", documents.test), ("training", training)):
        if shown is not None:
            return attended_by({options.name: model, **options.compare}, shown, name)
    return []


def _facts(model: Model, name: str) -> ModelFacts:
    origin, detector = model.provenance, model.detector
    rule = None if detector is None else detector.calibration
    return ModelFacts(
        name,
        model.settings.training.method,
        Path(model.settings.model.backbone).name,
        model.classes,
        model.pairs,
        model.max_length,
        short_name(str(origin.get("data", ""))),
        origin.get("rows"),
        str(origin.get("created", ""))[:10],
        None if detector is None else detector.score.name,
        None if rule is None else rule.threshold,
        None if rule is None else rule.promised,
        None if rule is None else rule.confidence,
        None if detector is None else detector.temperature,
    )


def _classification(model: Model, documents: ReportDocuments, options: ReportOptions) -> dict[str, Any]:
    """The parts about known and foreign documents."""
    detector = model.require_detector("report")
    test, ood = documents.test, documents.ood
    if test is not None:
        _check_labels(test, model.classes)
    foreign = {name: _judged(model, name, one) for name, one in ood.items()}
    if test is None:
        answered = held_out_answers(detector)
    else:
        name, labels = _test_name(documents), class_indices(test.labels or [], model.classes)
        trained_on = test.fingerprint() == model.provenance.get("data_sha256")
        answered = Answered(name, False, True, labels, _judged(model, name, test), trained_on)
    known_scores = detector.calibration.scores if answered is None else answered.judged.scores
    name = "held-out documents" if answered is None else answered.name
    scores = {name: known_scores, **{other: judged.scores for other, judged in foreign.items()}}
    shown: dict[str, Any] = {"evaluation": None, "scores": score_histogram(scores, detector.calibration)}
    if answered is None:
        return shown
    known = describe_answers(answered, model.classes, foreign)
    shown |= {
        "evaluation": _evaluation(model, answered, foreign, test, options.resamples),
        "known": known,
        "detection": {other: detection_curve(answered.judged, judged) for other, judged in foreign.items()},
    }
    if test is not None and options.with_texts:
        judged_sets = {other: (ood[other], judged) for other, judged in foreign.items()}
        shown["risky"] = risky_texts(test, answered, judged_sets, model.classes)
    return shown


def _test_name(documents: ReportDocuments) -> str:
    """A short name that no other set has."""
    name = "" if documents.test is None else short_name(documents.test.name)
    return f"{name} (known)" if name in {*documents.ood, *documents.target} else name


def _judged(model: Model, name: str, documents: Documents) -> Judgement:
    with progress_bar(len(documents), f"judge {name}", "doc") as bar:
        return model.judge(texts_of(documents), bar.update)


def _check_labels(test: Documents, classes: Sequence[str]) -> None:
    unknown = sorted({str(label) for label in test.labels or []} - set(classes))
    if unknown:
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        raise DataError(
            f"{test.name}: the model has no class {', '.join(map(repr, unknown[:5]))}{more}; texts of other classes "
            "are foreign to it: pass them with --ood"
        )


def _evaluation(
    model: Model, answered: Answered, foreign: Mapping[str, Judgement], test: Documents | None, resamples: int
) -> dict[str, Any]:
    """As :meth:`masker.model.Model.evaluate` gives it, of answers that are known already."""
    resampling = Resampling(resamples, model.settings.training.seed)
    labels = [model.classes[label] for label in answered.labels]
    detector = model.require_detector("report")
    figures = evaluate_classification(detector, model.classes, answered.judged, labels, foreign, resampling)
    if answered.held_out:
        del figures["confidence"]  # what it was before calibration was not kept
    data = {} if test is None else {"data_sha256": test.fingerprint()}
    name = answered.name if test is None else test.name
    return evaluation_report(model, name, len(labels), figures, resampling, **data)


def _regression(model: Model, documents: ReportDocuments, options: ReportOptions) -> dict[str, Any]:
    if documents.ood:
        raise ConfigError("a regression has no classes to be out of; report on it without --ood")
    test = documents.test
    if test is None:
        return {"evaluation": None}
    with progress_bar(len(test), f"judge {short_name(test.name)}", "doc") as bar:
        logits = model.outputs(texts_of(test), bar.update).logits
    true = [float(str(label)) for label in test.labels or []]
    resampling = Resampling(options.resamples, model.settings.training.seed)
    figures = evaluate_regression(logits, true, resampling)
    values = [[value, round(float(predicted), 4)] for value, predicted in zip(true, logits[:, 0], strict=True)]
    evaluation = evaluation_report(model, test.name, len(test), figures, resampling, data_sha256=test.fingerprint())
    return {"evaluation": evaluation, "values": values}


def _maps(model: Model, documents: ReportDocuments, options: ReportOptions) -> list[DocumentMap]:
    test = {} if documents.test is None else {_test_name(documents): documents.test}
    source = test if documents.train is None else {"training": documents.train}
    wanted: list[tuple[str, dict[str, Documents]]] = []
    if documents.ood and (test or source):
        wanted.append(("known and foreign", {**(test or source), **documents.ood}))
    if documents.target and source:
        wanted.append(("source and target", {**source, **documents.target}))
    if not wanted and test:
        wanted.append(("classes", test))
    try:
        return [map_documents(model, title, sets, with_texts=options.with_texts) for title, sets in wanted]
    except ModelError as error:
        _log.warning("no map of documents: %s", error)
        return []
