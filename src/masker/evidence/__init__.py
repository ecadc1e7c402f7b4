"""What a model's answer rests on: words, keywords and the nearest classes, for one text."""

from masker.evidence.answer_evidence import AnswerEvidence, KeywordEvidence, NearestClasses, PartEvidence
from masker.evidence.finding import find_evidence
from masker.evidence.training_examples import NearestExample, TrainingExamples, choose_examples, open_examples

__all__ = [
    "AnswerEvidence",
    "KeywordEvidence",
    "NearestClasses",
    "NearestExample",
    "PartEvidence",
    "TrainingExamples",
    "choose_examples",
    "find_evidence",
    "open_examples",
]
