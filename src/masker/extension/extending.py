"""Adding classes and examples to a trained model: a larger head, larger statistics, a new threshold, the same encoder.

The promise is kept without the old held-out texts, of which a model keeps only the scores:

- A new text of an added class is scored by a head and statistics that were made without it (:data:`FOLDS` folds).
  These scores join those of the old held-out texts. The encoder was not trained for added classes, so their texts look
  stranger: if there are enough of them, these classes have a threshold of their own, and the rate is kept whatever the
  traffic is a mix of. New texts of old classes set no threshold: they were labelled because they were rejected, or
  nearly, so they look stranger than most of their class, and would cost the model its rejections.
- Old scores are moved by the difference that the new detector makes to kept training texts, such that three quarters
  of these rise by less (:data:`RISE_LEVEL`). This is an estimate, as held-out texts were in no training. With it, about
  as many texts of old classes are rejected as before (docs/open-world.md); a higher level would reject fewer of them,
  and fewer foreign ones.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from masker.config import Settings
from masker.detection.arrays import Floats, Labels
from masker.detection.calibration import Calibration
from masker.detection.detector import Detector, HeldOut, document_scores
from masker.detection.score import AUTO, build_score
from masker.detection.score_basis import ScoreBasis
from masker.detection.statistics import Statistics
from masker.documents.folds import stratified_folds
from masker.documents.texts import Text
from masker.errors import ConfigError, DataError, ModelError
from masker.extension.grown_parts import Growing, GrownParts
from masker.inference.outputs import Outputs
from masker.labels import LABEL_TYPES, class_indices, class_name
from masker.model import Model
from masker.modeling.heads import grow_output_layer, head_inputs_of, read_output_layer
from masker.provenance import provenance
from masker.registry import METHODS
from masker.training.probe import LinearMap

#: Parts of the new texts, each scored by what was made without it.
FOLDS = 5
#: Share of the kept texts whose scores rise by no more than those of old held-out texts are raised.
RISE_LEVEL = 0.75
#: Features that the head reads.
KIND = "cls"
#: Scores closer than this are equal: the last digits of a product depend on the size of the matrices.
_ROUNDING = 1e-5
#: Share of the kept texts whose class the head must give again when it is read from their features.
LEAST_AGREEMENT = 0.98


@dataclass(frozen=True)
class Extension:
    """An extended model, and what the extension did.

    Attributes:
        model: The model.
        added: New texts by class.
        new_classes: Those that the model did not have.
        accuracy: Share of the new texts that a head made without them labels correctly; ``None`` if none had another
            text of its class.
        kept: Share of the kept training texts whose answer stays the same.
        rises: By how much the scores of old held-out texts were raised, by score; below 0 if the extended model finds
            known texts less strange.
    """

    model: Model
    added: dict[str, int]
    new_classes: list[str]
    accuracy: float | None
    kept: float
    rises: dict[str, float]


def extend_model(model: Model, texts: Sequence[Text], labels: Sequence[Any], *, data: str = "") -> Extension:
    """Add labelled texts, of new classes or old, to a trained model.

    Args:
        model: Opened with PyTorch.
        texts: New texts.
        labels: Their classes.
        data: Where they are from, for the provenance.

    Raises:
        ConfigError: When the model's method or score cannot be extended.
        DataError: When there is no text.
        ModelError: When the model does not hold its weights, or features of its training texts.
    """
    detector, statistics = check_extendable(model)
    if model.backend.weights() is None:
        raise ModelError("extend changes the weights, which an exported model or one in 16 bits does not hold")
    if not len(texts):
        raise DataError("extend: there is no text; give labelled texts")
    names = [class_name(label) for label in labels]
    new = sorted(set(names) - set(model.classes))
    classes = [*model.classes, *new]
    backend: Any = model.backend
    outputs = model.outputs(texts, kinds=tuple(statistics.moments))
    bank = head_inputs_of(backend.classifier, statistics.bank[KIND])
    head = LinearMap(*read_output_layer(backend.classifier))
    _check_agreement(head(bank), statistics.bank_logits)
    inputs = head_inputs_of(backend.classifier, outputs.features[KIND])
    growth = Growing(model, statistics, head, bank, outputs, inputs, class_indices(names, classes), classes)
    final = growth.grown_without(np.zeros(len(texts), dtype=bool))
    grown, rises, accuracy = _recalibrated(growth, detector, final)
    extended = replace(
        model,
        backend=_with_head(backend, model.tokenizer, final.head, classes),
        detector=grown,
        classes=classes,
        label_type=label_type_with(model.label_type, new),
        provenance={
            **model.provenance,
            "extended": [*model.provenance.get("extended", []), extension_record(names, new, data)],
        },
    )
    kept = float((final.head(bank).argmax(axis=1) == statistics.bank_logits.argmax(axis=1)).mean())
    return Extension(extended, dict(sorted(Counter(names).items())), new, accuracy, kept, rises)


def check_extendable(model: Model) -> tuple[Detector, Statistics]:
    """What an extension changes, its weights aside; the errors are those of :func:`extend_model`."""
    detector, method = model.require_detector("extend"), METHODS.get(model.settings.training.method)
    if model.is_multi_label:
        raise ConfigError(
            "old texts are not labelled for a new one of several labels; train the model anew on all texts"
        )
    if not method.fine_tuned or method.own_score is not None or detector.basis.learnt is not None:
        raise ConfigError(
            f"a model of method {method.name} with score {detector.score.name} cannot be extended; train it anew on "
            "all texts with --retrain --data TRAINING_DATA"
        )
    if detector.basis.statistics is None or KIND not in detector.basis.statistics.moments:
        raise ModelError(
            "the model keeps no features of its training texts; add them with 'masker calibrate MODEL DATA --score "
            "auto --statistics TRAINING_DATA', or use --retrain --data TRAINING_DATA"
        )
    return detector, detector.basis.statistics


def _check_agreement(found: Floats, stored: Any) -> None:
    """Refuse where the head, read from kept features, does not say what it said in training."""
    if float((found.argmax(axis=1) == stored.argmax(axis=1)).mean()) < LEAST_AGREEMENT:
        raise ModelError("the kept features do not give the model's answers; use --retrain --data TRAINING_DATA")


def _recalibrated(
    growth: Growing, detector: Detector, final: GrownParts
) -> tuple[Detector, dict[str, float], float | None]:
    """The detector of the grown model; ``rises`` and ``accuracy`` of its :class:`Extension`."""
    settings, combination = growth.model.settings, detector.basis.combination
    names = [name for name in detector.held_out.scores if name != AUTO]
    rises = _rises(growth, final, names, settings)
    old = {name: detector.held_out.scores[name] + rises[name] for name in names}
    fresh, logits, judged = _cross_fitted(growth, names, settings)
    accuracy = float((logits.argmax(axis=1) == growth.labels[judged]).mean()) if len(judged) else None
    added = np.zeros(len(growth.classes), dtype=bool)
    added[len(growth.model.classes) :] = True
    if detector.added is not None:
        added[: len(detector.added)] = detector.added
    # Without old held-out texts there is nothing that new ones could join, and no promise to keep.
    sets = added[growth.labels[judged]] & bool(len(detector.held_out.predicted))
    fresh, logits, judged = {name: found[sets] for name, found in fresh.items()}, logits[sets], judged[sets]
    if combination is not None:
        joint = combination.joint()
        old[AUTO] = joint(old) if any(rises[name] for name in combination.offsets) else detector.held_out.scores[AUTO]
        fresh[AUTO] = joint(fresh)
    scores = {name: np.concatenate([old[name], fresh[name]]) for name in old}
    predicted = np.concatenate([detector.held_out.predicted, logits.argmax(axis=1)])
    known = detector.held_out.labels, detector.held_out.confidence
    confidence = detector.probabilities(logits.astype(np.float32)).max(axis=1)
    seen = HeldOut(
        scores,
        predicted,
        detector.held_out.separate,
        None if known[0] is None else np.concatenate([known[0], growth.labels[judged]]),
        None if known[1] is None else np.concatenate([known[1], confidence]),
    )
    basis = ScoreBasis(final.statistics, combination)
    calibration = Calibration.fit(
        scores[detector.score.name],
        predicted,
        len(growth.classes),
        detector.calibration.false_alarm_rate,
        class_conditional=settings.detection.class_conditional,
        confidence=detector.calibration.confidence,
        apart=added,
    )
    if detector.calibration.external:
        calibration = calibration.with_threshold(detector.calibration.threshold)
    score = basis.build(detector.score.name, settings)
    grown = replace(detector, score=score, calibration=calibration, held_out=seen, basis=basis, added=added)
    return grown, rises, accuracy


def _rises(growth: Growing, final: GrownParts, names: Sequence[str], settings: Settings) -> dict[str, float]:
    """By how much the new detector finds texts of the bank stranger than the old one did, by score."""
    before, count = growth.statistics, len(growth.statistics.bank_labels)
    old = Outputs(growth.head(growth.bank).astype(np.float32), before.bank, before.bank_lengths)
    new = old._replace(logits=final.statistics.bank_logits[:count])
    found = {}
    for name in names:
        scores = document_scores(build_score(name, before, settings), old)
        risen = document_scores(build_score(name, final.statistics, settings), new) - scores
        rise = float(np.quantile(risen, RISE_LEVEL, method="higher"))
        found[name] = rise if abs(rise) > _ROUNDING * (1.0 + float(np.abs(scores).max())) else 0.0
    return found


def _cross_fitted(
    growth: Growing, names: Sequence[str], settings: Settings
) -> tuple[dict[str, Floats], Floats, Labels]:
    """Scores and logits of new texts by heads and statistics that were made without them, and the texts' numbers.

    A text that is the only one of a new class comes to a head that cannot know the class, and is left out.
    """
    folds = stratified_folds(growth.labels.tolist(), min(FOLDS, len(growth.labels)), settings.training.seed)
    parts: dict[str, list[Floats]] = {name: [np.empty(0)] for name in names}
    logits: list[Any] = [np.empty((0, len(growth.classes)))]
    judged: list[Labels] = [np.empty(0, dtype=np.int64)]
    for fold in np.unique(folds):
        inside = folds == fold
        known = {*range(len(growth.model.classes)), *growth.labels[~inside].tolist()}
        rows = np.flatnonzero(inside & np.isin(growth.labels, list(known)))
        if not len(rows) or inside.all():
            continue
        made = growth.grown_without(inside)
        outputs = growth.outputs_of(rows, made.head)
        logits.append(outputs.logits)
        judged.append(rows)
        for name in names:
            parts[name].append(document_scores(build_score(name, made.statistics, settings), outputs))
    scores = {name: np.concatenate(found) for name, found in parts.items()}
    return scores, np.concatenate(logits), np.concatenate(judged)


def _with_head(backend: Any, tokenizer: Any, head: LinearMap, classes: Sequence[str]) -> Any:
    classifier = copy.deepcopy(backend.classifier)
    grow_output_layer(classifier, *head, classes)
    tensors = {name: tensor.numpy() for name, tensor in backend.own_tensors.items()}
    return type(backend)(classifier, tokenizer, str(backend.device), tensors=tensors)


def label_type_with(before: str, new: Sequence[str]) -> str:
    """The type of the labels: text, once a new class is not of the type of the others."""
    try:
        return before if all(class_name(LABEL_TYPES[before](name)) == name for name in new) else "str"
    except ValueError:
        return "str"


def extension_record(names: Sequence[str], new: Sequence[str], data: str) -> dict[str, Any]:
    """What the provenance of a model says of an extension."""
    made = provenance()
    return {
        "created": made["created"],
        "versions": made["versions"],
        "data": data,
        "texts": dict(sorted(Counter(names).items())),
        "new_classes": list(new),
    }
