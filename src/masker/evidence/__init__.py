"""What a model's answer rests on: words, keywords and the nearest classes, for one text."""

from masker.evidence.answer_evidence import AnswerEvidence, KeywordEvidence, NearestClasses, PartEvidence
from masker.evidence.finding import find_evidence

__all__ = ["AnswerEvidence", "KeywordEvidence", "NearestClasses", "PartEvidence", "find_evidence"]
