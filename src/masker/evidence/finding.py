"""Finding the evidence for one answer.

::

    found = find_evidence(model, "Where is my parcel?")
    found.parts[3].support       # how much confidence goes with "parcel"

Words are dropped one at a time (:mod:`masker.audit.occlusion` does so for a corpus). Keywords are masked, and left
alone, as in training: x~ with all keywords masked, x^ with all context masked or dropped. The cost of a text is
bounded: in a long one, words are dropped in runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from masker.detection.arrays import Floats
from masker.detection.detector import Detector, Judgement
from masker.detection.prediction import Prediction, predictions_of
from masker.documents.texts import Text, kind_mismatch, split_pairs
from masker.documents.word_spans import Span
from masker.errors import DataError
from masker.evidence.answer_evidence import AnswerEvidence, KeywordEvidence, NearestClasses, PartEvidence
from masker.evidence.reading import Reading, Variants, WindowFlags, read_document
from masker.evidence.training_examples import KIND, TrainingExamples
from masker.inference.outputs import Outputs
from masker.inference.windows import document_outputs, pool_outputs
from masker.model import Model

#: Tokens that dropping words may cost, about; a few passes over the whole text come on top.
TOKEN_BUDGET = 8192
#: A text is cut into at least and at most this many parts.
FEWEST_PARTS, MOST_PARTS = 8, 64
#: Classes and training texts named as the nearest.
NEAREST, NEAREST_EXAMPLES = 5, 3


@dataclass(frozen=True)
class _Answers:
    """The model's answers to all versions of a document."""

    predictions: list[Prediction]
    support: Floats  # (N,) what the answer to the document itself loses
    judged: Judgement | None
    outputs: Outputs

    def part(self, number: int, spans: list[Span]) -> PartEvidence:
        answer, judged = self.predictions[number], self.judged
        strangeness = None if judged is None else float(judged.scores[0] - judged.scores[number])
        return PartEvidence(spans, float(self.support[number]), strangeness, answer.label, answer.is_ood)


def find_evidence(model: Model, text: Text, examples: TrainingExamples | None = None) -> AnswerEvidence:
    """What the model's answer for one text rests on.

    Args:
        model: The model.
        text: A text, or a pair.
        examples: Training texts to name the nearest of (:func:`masker.evidence.open_examples`).

    Raises:
        DataError: When the text is a pair and the model was trained on single texts, or vice versa.
    """
    first, pairs = split_pairs([text])
    if (pairs is not None) != model.pairs:
        raise DataError(kind_mismatch(model.pairs))
    texts = [*first, *(pairs or [])]
    tokenizer = model.tokenizer
    reading = read_document(model, texts)
    variants = Variants(reading, tokenizer.pad_token_id if tokenizer.unk_token_id is None else tokenizer.unk_token_id)
    parts, single_words = _parts(reading, model.max_length)
    numbers = [variants.add(reading.of_words(words)) for words in parts]
    flags = _keyword_flags(model, reading)
    views = None if flags is None else _keyword_views(model, reading, variants, flags)
    answers = _answers(model, variants, () if examples is None else (KIND,))
    keywords = None
    if model.keywords is not None and flags is not None:
        answered = [None if views is None else answers.predictions[number] for number in views or (0, 0)]
        keywords = KeywordEvidence(model.keywords.source, reading.spans_of(flags, texts), *answered)
    spans = [_spans(reading, words, single_words) for words in parts]
    return AnswerEvidence(
        answers.predictions[0],
        reading.read_to(len(texts)),
        single_words,
        [answers.part(number, where) for number, where in zip(numbers, spans, strict=True)],
        keywords,
        None if model.detector is None else _nearest(model, model.detector, answers),
        None if examples is None else examples.nearest(answers.outputs.features[KIND][0], NEAREST_EXAMPLES),
    )


def _parts(reading: Reading, max_length: int) -> tuple[list[list[int]], bool]:
    """Words that are dropped together: the occurrences of one, or runs of them if there are too many."""
    cost = min(reading.tokens, 2 * max_length)  # of a run, which touches one window or two
    most = int(np.clip(TOKEN_BUDGET // max(1, cost), FEWEST_PARTS, MOST_PARTS))
    occurrences: dict[str, list[int]] = {}
    for number, word in enumerate(reading.words):
        occurrences.setdefault(word, []).append(number)
    if len(occurrences) <= most and len(reading.ids) == 1:
        return list(occurrences.values()), True
    words = len(reading.words)
    return [run.tolist() for run in np.array_split(np.arange(words), min(most, words))], words <= most


def _spans(reading: Reading, words: list[int], single_words: bool) -> list[Span]:
    spans = [reading.spans[word] for word in words]
    if single_words:
        return spans
    # A run is one span in each text.
    inside = {part: [span for span in spans if span[0] == part] for part in sorted({span[0] for span in spans})}
    return [(part, run[0][1], run[-1][2]) for part, run in inside.items()]


def _keyword_flags(model: Model, reading: Reading) -> WindowFlags | None:
    if model.keywords is None:
        return None
    return [model.keywords.find(ids) & content for ids, content in zip(reading.ids, reading.content(), strict=True)]


def _keyword_views(model: Model, reading: Reading, variants: Variants, flags: WindowFlags) -> tuple[int, int] | None:
    """Numbers of x~ and x^; ``None`` if the text has no keyword."""
    if not any(row.any() for row in flags):
        return None
    mask_id = model.tokenizer.mask_token_id
    context = [content & ~row for content, row in zip(reading.content(), flags, strict=True)]
    drop = model.settings.masking.context == "drop"
    return variants.add(flags, mask_id), variants.add(context, None if drop else mask_id)


def _answers(model: Model, variants: Variants, kinds: Sequence[str]) -> _Answers:
    detector = model.detector
    outputs = _outputs(model, variants, list(dict.fromkeys((*kinds, *(detector.score.features if detector else ())))))
    if detector is None:
        values = outputs.logits[:, 0].astype(np.float64)
        predictions = [Prediction(float(value), None, None, None, None) for value in values]
        return _Answers(predictions, values[0] - values, None, outputs)
    judged = detector.judge(outputs)
    of_label = judged.probabilities[:, judged.predicted[0]]
    return _Answers(predictions_of(judged, model.labels), of_label[0] - of_label, judged, outputs)


def _outputs(model: Model, variants: Variants, kinds: Sequence[str]) -> Outputs:
    """Outputs of all versions: rows are computed once, then pooled."""
    encoded, document = variants.encoded(), np.array(variants.document, dtype=np.int64)
    found = document_outputs(model.backend, encoded, "mean", kinds=kinds)  # one row each: nothing to pool yet
    features = {kind: values[variants.rows] for kind, values in found.features.items()}
    outputs = Outputs(found.logits[variants.rows], features)
    outputs = pool_outputs(outputs, document, model.settings.model.window_pooling)
    return outputs._replace(lengths=np.bincount(document, encoded.lengths[variants.rows]).astype(np.int64))


def _nearest(model: Model, detector: Detector, answers: _Answers) -> NearestClasses:
    statistics, features = detector.basis.statistics, answers.outputs.features
    kept = [kind for kind in features if statistics is not None and kind in statistics.moments]
    if statistics is None or not kept:
        assert answers.judged is not None
        return NearestClasses("probability", _highest(model, answers.judged.probabilities[0]))
    kind = "cls" if "cls" in kept else kept[0]
    moments, vector = statistics.moments[kind], features[kind][[0]]
    dense = np.asarray(vector.toarray() if hasattr(vector, "toarray") else vector, dtype=np.float64)[0]
    values = cosines(dense - moments.mean, moments.means - moments.mean)
    return NearestClasses("class means", _highest(model, np.where(moments.counts > 0, values, -np.inf)))


def _highest(model: Model, values: Floats) -> list[tuple[object, float]]:
    best = [place for place in np.argsort(-values, kind="stable")[:NEAREST] if np.isfinite(values[place])]
    return [(model.labels[place], float(values[place])) for place in best]


def cosines(vector: Floats, rows: Floats) -> Floats:
    """(N,) cosines of the angles between a (H,) vector and (N, H) rows; 0 where one of them is zero."""
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(vector)
    return np.asarray(np.where(lengths > 0, rows @ vector / np.where(lengths > 0, lengths, 1.0), 0.0))
