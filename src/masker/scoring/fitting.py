"""Fitting a detector to a trained network: one pass over the training documents, one over those held out."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from masker.config import METHODS_WITH_SCORE, Settings
from masker.data.encoding import Encoded
from masker.keywords import KeywordSet
from masker.modeling.features import Outputs
from masker.modeling.scorer import Scorer, document_outputs, stream_outputs
from masker.progress import progress_bar
from masker.scoring.baseline_scores import METHOD_SCORES
from masker.scoring.calibration import Calibration
from masker.scoring.choice import CANDIDATES, LEAST_DOCUMENTS, choose
from masker.scoring.detector import Detector, HeldOut, build_score
from masker.scoring.joint import AUTO, Recipe
from masker.scoring.known import Known, gather
from masker.scoring.network_scores import FEATURE_SCORES, LOGIT_SCORES, feature_kinds
from masker.scoring.score import Floats, Labels, Score
from masker.scoring.stand_ins import stand_in_documents
from masker.scoring.temperature import fit_temperature

_log = logging.getLogger("masker")


def fit_detector(
    scorer: Scorer,
    train: Encoded,
    validation: Encoded,
    calibration: Encoded | None,
    *,
    tokenizer: Any,
    keywords: KeywordSet | None,
    settings: Settings,
    train_outputs: Outputs | None = None,
) -> Detector:
    """Gather statistics, choose a score, calibrate it.

    Args:
        scorer: The trained network.
        train: Its training documents, with class indices.
        validation: Documents that chose its checkpoint; they choose the score as well.
        calibration: Documents that chose nothing; ``None`` calibrates on those of ``validation``.
        tokenizer: Of the network.
        keywords: Those it was trained with.
        settings: All settings.
        train_outputs: Outputs of the training documents, where they are there already.
    """
    n_classes, name = scorer.n_outputs, settings.detection.score
    labels = document_labels(validation)
    if name == AUTO and len(labels) < LEAST_DOCUMENTS:
        _log.info("%d held-out documents are too few to choose a score: max-prob is used", len(labels))
        name = "max-prob"
    own = METHOD_SCORES.get(settings.training.method)
    kinds = own.features if own is not None else kinds_of(name)
    pooling = settings.model.window_pooling

    def run(encoded: Encoded) -> Outputs:
        return document_outputs(scorer, encoded, pooling, kinds=kinds)

    known: Known | None = None
    auto: Recipe | None = None
    if own is not None:
        if train_outputs is None:
            with progress_bar(len(train), "statistics", "doc") as bar:
                train_outputs = document_outputs(scorer, train, pooling, bar.update, kinds=kinds)
        score: Score = own.fit(train_outputs, document_labels(train), settings)
        chosen_on = run(validation)
    else:
        if kinds:
            with progress_bar(len(train), "statistics", "doc") as bar:
                stream = stream_outputs(scorer, train, pooling, bar.update, kinds=kinds)
                bank, seed = settings.detection.bank, settings.training.seed
                known = gather(stream, document_labels(train), n_classes, kinds, bank, seed)
        chosen_on = run(validation)
        if name == AUTO:
            assert known is not None
            views = stand_in_documents(validation, keywords, tokenizer, settings.masking, settings.training.seed)
            stand_ins = {view: run(encoded) for view, encoded in views.items()}
            auto = choose(known, chosen_on, labels, stand_ins, settings)
        score = build_score(name, known, auto, settings)
    held_out = chosen_on if calibration is None else run(calibration)
    temperature = 1.0
    if settings.detection.calibrate_confidence:
        logits, classes = chosen_on.logits, labels
        if calibration is not None:
            logits = np.concatenate([logits, held_out.logits])
            classes = np.concatenate([classes, document_labels(calibration)])
        temperature = fit_temperature(logits, classes, settings.model.head)
    detector = _calibrated(score, known, auto, held_out, settings, separate=calibration is not None)
    return replace(detector, temperature=temperature)


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
    scores = held_out_scores(score, known, auto, held_out, settings)
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
    elif calibration.promised > rule.false_alarm_rate:
        _log.warning(
            "%d held-out documents can promise a false-alarm rate of %.3g at best, not %.3g; hold out more",
            len(predicted),
            calibration.promised,
            rule.false_alarm_rate,
        )
    return Detector(score, calibration, settings, 1.0, HeldOut(scores, predicted, separate), known, auto)


def held_out_scores(
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
