"""Fitting a detector to a trained network: one pass over the training documents, one over those held out."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from masker.config import METHODS_WITH_SCORE, Settings
from masker.detection.auto import CANDIDATES, LEAST_DOCUMENTS, choose
from masker.detection.baseline_scores import METHOD_SCORES
from masker.detection.calibration import Calibration
from masker.detection.detector import Detector, HeldOut, build_score, check_numbers
from masker.detection.joint import AUTO, Recipe
from masker.detection.network_scores import FEATURE_SCORES, LOGIT_SCORES, feature_kinds
from masker.detection.score import Floats, Labels, Score
from masker.detection.stand_ins import stand_in_documents
from masker.detection.statistics import Known, gather
from masker.detection.temperature import fit_temperature
from masker.documents.encoding import Encoded
from masker.errors import ConfigError, ModelError
from masker.inference.backend import Scorer, document_outputs, stream_outputs
from masker.inference.outputs import Outputs
from masker.keywords import KeywordSet
from masker.progress import progress_bar

_log = logging.getLogger("masker")


@dataclass(frozen=True)
class Network:
    """What a detector is fitted to.

    Attributes:
        scorer: The trained network.
        tokenizer: Its tokenizer.
        keywords: Those it was trained with.
        settings: All settings; ``detection`` says what is to be fitted.
    """

    scorer: Scorer
    tokenizer: Any
    keywords: KeywordSet | None
    settings: Settings

    def run(self, encoded: Encoded, kinds: tuple[str, ...]) -> Outputs:
        """Outputs of documents."""
        return document_outputs(self.scorer, encoded, self.settings.model.window_pooling, kinds=kinds)

    def sample(self, encoded: Encoded) -> Encoded:
        """At most as many held-out documents as the settings allow, in order."""
        limit, documents = self.settings.detection.held_out, int(encoded.document[-1]) + 1
        if documents <= limit:
            return encoded
        chosen = np.sort(np.random.default_rng(self.settings.training.seed).choice(documents, limit, replace=False))
        rows = np.flatnonzero(np.isin(encoded.document, chosen))
        return replace(encoded.take(rows.tolist()), document=np.searchsorted(chosen, encoded.document[rows]))

    def gather(self, train: Encoded, kinds: tuple[str, ...]) -> Known | None:
        """Statistics of training documents, some of them held at a time; ``None`` where none are needed."""
        if not kinds:
            return None
        settings = self.settings
        with progress_bar(len(train), "statistics", "doc") as bar:
            stream = stream_outputs(self.scorer, train, settings.model.window_pooling, bar.update, kinds=kinds)
            bank, seed = settings.detection.bank, settings.training.seed
            return gather(stream, document_labels(train), self.scorer.n_outputs, kinds, bank, seed)

    def choose(self, known: Known, documents: Encoded, outputs: Outputs, kinds: tuple[str, ...]) -> Recipe:
        """What ``auto`` is made of, by what ``documents`` and their views show."""
        settings = self.settings
        views = stand_in_documents(documents, self.keywords, self.tokenizer, settings.masking, settings.training.seed)
        stand_ins = {view: self.run(encoded, kinds) for view, encoded in views.items()}
        return choose(known, outputs, document_labels(documents), stand_ins, settings)


def fit_detector(
    network: Network,
    train: Encoded,
    validation: Encoded,
    calibration: Encoded | None,
    train_outputs: Outputs | None = None,
) -> Detector:
    """Gather statistics, choose a score, calibrate it.

    Args:
        network: The trained network, and what it should get.
        train: Its training documents, with class indices.
        validation: Documents that chose its checkpoint; they choose the score as well.
        calibration: Documents that chose nothing; ``None`` calibrates on those of ``validation``.
        train_outputs: Outputs of the training documents, where they are there already.
    """
    settings, name = network.settings, network.settings.detection.score
    validation = network.sample(validation)
    calibration = None if calibration is None else network.sample(calibration)
    labels = document_labels(validation)
    if name == AUTO and len(labels) < LEAST_DOCUMENTS:
        _log.info("%d held-out documents are too few to choose a score: max-prob is used", len(labels))
        name = "max-prob"
    own = METHOD_SCORES.get(settings.training.method)
    known: Known | None = None
    auto: Recipe | None = None
    if own is not None:
        kinds = own.features
        if train_outputs is None:
            train_outputs = network.run(train, kinds)
        score: Score = own.fit(train_outputs, document_labels(train), settings)
        chosen_on = network.run(validation, kinds)
    else:
        kinds = kinds_of(name)
        known = network.gather(train, kinds)
        chosen_on = network.run(validation, kinds)
        if name == AUTO:
            assert known is not None
            auto = network.choose(known, validation, chosen_on, kinds)
        score = build_score(name, known, auto, settings)
    held_out = chosen_on if calibration is None else network.run(calibration, kinds)
    detector = _calibrated(score, known, auto, held_out, settings, separate=calibration is not None)
    if not settings.detection.calibrate_confidence:
        return detector
    logits, classes = chosen_on.logits, labels
    if calibration is not None:
        logits = np.concatenate([logits, held_out.logits])
        classes = np.concatenate([classes, document_labels(calibration)])
    return replace(detector, temperature=fit_temperature(logits, classes, settings.model.head))


def recalibrate(
    network: Network,
    detector: Detector,
    documents: Encoded,
    choosing: Encoded | None = None,
    statistics: Encoded | None = None,
) -> Detector:
    """Calibrate a detector on new in-distribution documents; the network stays as it is.

    Args:
        network: The trained network, and what its detector should be now.
        detector: What it is.
        documents: New documents; class indices are needed for the temperature only, which else stays.
        choosing: Other new documents with class indices, on which ``auto`` is made up anew; ``None`` keeps it.
        statistics: Training documents with class indices, for statistics in place of those that are there.

    Raises:
        ModelError: When the score needs statistics that are not there.
    """
    settings, name = network.settings, network.settings.detection.score
    known, auto, score = detector.known, detector.auto, detector.score
    documents = network.sample(documents)
    choosing = None if choosing is None else network.sample(choosing)
    if settings.training.method in METHODS_WITH_SCORE:
        kinds = score.features
    else:
        kinds = kinds_of(name)
        if statistics is not None:
            kinds = tuple(dict.fromkeys([*kinds, *(known.moments if known is not None else ())]))
            if not kinds:
                raise ConfigError(f"statistics: score '{name}' reads none; name another score, or leave them out")
            known, auto = network.gather(statistics, kinds), None
            if name != AUTO and detector.auto is not None:
                _log.warning("score 'auto' was chosen by the old statistics and is gone; --score auto chooses it anew")
        if name == AUTO and choosing is not None:
            if known is None or set(kinds) - set(known.moments):
                raise ModelError(
                    "the model has no statistics for score 'auto'; add them with --statistics TRAINING_DATA"
                )
            auto = network.choose(known, choosing, network.run(choosing, kinds), kinds)
        score = build_score(name, known, auto, settings)
        # Whatever there are statistics of can be chosen later on, too.
        kinds = tuple(known.moments) if known is not None else ()
    held_out = network.run(documents, kinds)
    fresh = _calibrated(score, known, auto, held_out, settings, separate=True)
    temperature = detector.temperature
    if settings.detection.calibrate_confidence and documents.labels is not None:
        labels = document_labels(documents)
        temperature = fit_temperature(held_out.logits, labels, settings.model.head, too_few=temperature)
    return replace(fresh, temperature=temperature)


def kinds_of(name: str) -> tuple[str, ...]:
    """The features that statistics are gathered of for a score: its own, or those of all candidates."""
    names = CANDIDATES if name == AUTO else (name,)
    return tuple(dict.fromkeys(kind for candidate in names for kind in feature_kinds(candidate)))


def document_labels(encoded: Encoded) -> Labels:
    """The class of each document, whatever the number of its windows."""
    assert encoded.labels is not None
    _, first = np.unique(encoded.document, return_index=True)
    return np.asarray(encoded.labels[first], dtype=np.int64)


def _calibrated(
    score: Score,
    known: Known | None,
    auto: Recipe | None,
    held_out: Outputs,
    settings: Settings,
    *,
    separate: bool,
) -> Detector:
    """The detector of a score, with what the held-out documents get by every score that is there."""
    rule = settings.detection
    scores = _scores(score, known, auto, held_out, settings)
    check_numbers(scores[score.name], held_out)
    predicted = held_out.logits.argmax(axis=1)
    calibration = Calibration.fit(
        scores[score.name],
        predicted,
        held_out.logits.shape[1],
        rule.false_alarm_rate,
        class_conditional=rule.class_conditional,
    )
    if rule.rule == "published" and score.published_threshold is not None:
        calibration = calibration.with_threshold(score.published_threshold)
    elif calibration.promised is not None and calibration.promised > rule.false_alarm_rate:
        _log.warning(
            "%d held-out documents can promise a false-alarm rate of %.3g at best, not %.3g; hold out more",
            len(predicted),
            calibration.promised,
            rule.false_alarm_rate,
        )
    return Detector(score, calibration, settings, 1.0, HeldOut(scores, predicted, separate), known, auto)


def _scores(
    score: Score, known: Known | None, auto: Recipe | None, outputs: Outputs, settings: Settings
) -> dict[str, Floats]:
    """(n,) scores of held-out documents, by every score that the model can have."""
    scores = {score.name: score.ood_score(outputs)}
    if settings.training.method in METHODS_WITH_SCORE:
        return scores
    names: list[str] = [*LOGIT_SCORES]
    if known is not None:
        names += [name for name, (_, kind) in FEATURE_SCORES.items() if kind in known.moments]
    names += [AUTO] if auto is not None else []
    for name in names:
        if name not in scores:
            scores[name] = build_score(name, known, auto, settings).ood_score(outputs)
    return scores
