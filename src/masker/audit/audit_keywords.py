"""Choosing the keywords of an audit: found by a scheme, or given by the user.

An audit scores words instead of tokens, so it hands the registered keyword schemes evidence about words. Occlusion,
which asks the audited model itself, is the audit's own scheme.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from masker.audit.audited_model import AuditedModel
from masker.audit.hiding import AnsweredDocuments
from masker.audit.occlusion import association, candidate_words, document_counts, occlude, occlusion_scores
from masker.audit.words import Floats, Ids, Vocabulary
from masker.config import AuditSettings
from masker.documents.encoding import pad_rows
from masker.documents.word_spans import word_spans
from masker.errors import ConfigError, DataError, did_you_mean
from masker.keywords import KeywordSet
from masker.keywords.attention import AttentionScores
from masker.keywords.frequency import class_token_counts
from masker.keywords.keyword_files import read_keywords
from masker.keywords.scheme import Evidence
from masker.modeling.model_folder import load_manifest
from masker.progress import progress_bar
from masker.registry import KEYWORD_SCHEMES

OCCLUSION = "occlusion"


@dataclass(frozen=True)
class ChosenKeywords:
    """K keywords, grouped by class, best first."""

    words: Ids  # (K,) vocabulary numbers
    classes: Ids  # (K,) the class that each belongs to
    scores: Floats  # (K,)

    def of_class(self, label: int) -> list[int]:
        return [int(word) for word in self.words[self.classes == label]]


def audit_schemes() -> list[str]:
    """The schemes that find keywords for an audit: occlusion, and every registered scheme that tells classes apart."""
    return [OCCLUSION, *(name for name, scheme in KEYWORD_SCHEMES.items() if scheme.by_class)]


def check_scheme(model: AuditedModel, name: str) -> None:
    """Refuse a scheme that reads attention if the model has no document token that attends to the words."""
    if name != OCCLUSION and KEYWORD_SCHEMES.get(name).reads_attention and not model.has_document_token:
        raise ConfigError(
            f"keywords must be occlusion, frequency or a file for '{model.name}', which has no document token whose "
            f"attention could be read; got '{name}'"
        )


def choose_audit_keywords(
    model: AuditedModel, answered: AnsweredDocuments, vocabulary: Vocabulary, settings: AuditSettings
) -> ChosenKeywords:
    """The keywords of each class, by the scheme that the settings name."""
    if settings.keywords == OCCLUSION:
        scores = occlusion_word_scores(model, answered, len(vocabulary), settings)
    else:
        scores = scheme_word_scores(model, answered, vocabulary, settings)
    counts = document_counts(answered.words.words, answered.predicted, answered.n_classes, len(vocabulary))
    scores[:, counts.sum(axis=0) < settings.minimum_documents] = -np.inf
    return best_words_by_class(scores, settings.per_class)


def occlusion_word_scores(
    model: AuditedModel, answered: AnsweredDocuments, vocabulary_size: int, settings: AuditSettings
) -> Floats:
    """(C, V) occlusion scores; see :mod:`masker.audit.occlusion`."""
    predicted, n_classes = answered.predicted, answered.n_classes
    counts = document_counts(answered.words.words, predicted, n_classes, vocabulary_size)
    sizes = np.bincount(predicted, minlength=n_classes)
    per_class = settings.per_class * settings.candidates_per_keyword
    wanted = candidate_words(counts, sizes, per_class, settings.minimum_documents)
    found = occlude(model, answered, wanted, "keywords")
    return occlusion_scores(predicted[found.rows], found.words, found.drops, n_classes, vocabulary_size)


def scheme_word_scores(
    model: AuditedModel, answered: AnsweredDocuments, vocabulary: Vocabulary, settings: AuditSettings
) -> Floats:
    """(C, V) scores of a registered scheme."""
    scheme = KEYWORD_SCHEMES.get(settings.keywords)
    evidence = word_evidence(model, answered, len(vocabulary), settings.seed)
    scores = np.array(scheme.class_scores(evidence), dtype=np.float64)
    if scheme.reads_attention:
        # A model attends to stop words in every class.
        scores[:, vocabulary.stop_words()] = -np.inf
    return scores


def word_evidence(model: AuditedModel, answered: AnsweredDocuments, vocabulary_size: int, seed: int = 0) -> Evidence:
    """Evidence about words: counts by the label in the data, attention by the class that the model predicts."""

    def count_tokens() -> Ids:
        pairs = ((words, int(label)) for words, label in zip(answered.words.words, answered.gold, strict=True))
        return class_token_counts(pairs, answered.n_classes, vocabulary_size)

    def read_attention() -> AttentionScores:
        return _word_attention(model, answered, vocabulary_size)

    return Evidence(count_tokens, read_attention if model.has_document_token else None, seed)


def _word_attention(model: AuditedModel, answered: AnsweredDocuments, vocabulary_size: int) -> AttentionScores:
    """The sums of Eq. 2 with the tokens of a word counted as the word."""
    scores = AttentionScores(answered.n_classes, vocabulary_size)
    class_of = torch.from_numpy(answered.predicted)
    # Tokens outside words have a negative position, and a text may have no word at all.
    numbers = [
        np.where(of_token >= 0, np.append(words, [-1, -1])[of_token], -1)
        for words, of_token in zip(answered.words.words, answered.words.word_of_token, strict=True)
    ]

    def visit(attention: torch.Tensor, rows: Ids) -> None:
        words = torch.from_numpy(pad_rows([numbers[row] for row in rows], -1)[0])
        scores.update(words.clamp_min(0), attention, words >= 0, class_of[rows])

    with progress_bar(len(answered), "keywords", "doc") as bar:
        model.visit_attention(answered.words.encoded, visit, bar.update)
    return scores


def best_words_by_class(scores: Floats, per_class: int) -> ChosenKeywords:
    """The words with the highest (C, V) scores above 0; a word belongs to the class with its highest score."""
    owner = scores.argmax(axis=0)
    words: list[int] = []
    for label, row in enumerate(scores):
        own = np.where((owner == label) & (row > 0), row, -np.inf)
        words += [int(word) for word in np.argsort(-own, kind="stable")[:per_class] if np.isfinite(own[word])]
    chosen = np.array(words, dtype=np.int64)
    return ChosenKeywords(chosen, owner[chosen], scores[owner[chosen], chosen])


def given_words(source: str, tokenizer: Any) -> list[str]:
    """The words of a file or a model folder, in lower case.

    Raises:
        ConfigError: When the source cannot be read, or an entry is more than one word.
    """
    words = []
    for entry in _entries(source, tokenizer):
        spelled = [word for word, _, _ in word_spans(entry)]
        if len(spelled) > 1:
            raise ConfigError(f"keywords of an audit must be single words; got '{entry}' in '{source}': split it up")
        words += spelled
    return words


def given_keywords(words: Sequence[str], answered: AnsweredDocuments, vocabulary: Vocabulary) -> ChosenKeywords:
    """The given words that occur in the documents, each in the class it is most strongly associated with.

    Raises:
        DataError: When none of them occurs.
    """
    found = (vocabulary.find(word) for word in words)
    numbers = list(dict.fromkeys(number for number in found if number is not None))
    if not numbers:
        raise DataError(
            f"none of the {len(words)} keywords occurs in the documents, as far as the model reads them; "
            "give other --keywords, or raise --max-length"
        )
    counts = document_counts(answered.words.words, answered.predicted, answered.n_classes, len(vocabulary))
    strength = association(counts, np.bincount(answered.predicted, minlength=answered.n_classes))[:, numbers]
    owner = strength.argmax(axis=0)
    order = np.lexsort((-strength.max(axis=0), owner))
    return ChosenKeywords(np.array(numbers, dtype=np.int64)[order], owner[order], strength.max(axis=0)[order])


def _entries(source: str, tokenizer: Any) -> list[str]:
    path = Path(source).expanduser()
    if not path.exists():
        known = audit_schemes()
        raise ConfigError(
            f"keywords must be {', '.join(known)}, a file of words or a model folder; got '{source}', which is none of "
            f"them.{did_you_mean(source, known)}"
        )
    if path.is_dir():
        stored = load_manifest(path).manifest.get("keywords")
        if stored is None:
            raise ConfigError(f"model '{source}' was trained without keywords; give other --keywords")
        words = KeywordSet.from_json(stored).words
    else:
        words = read_keywords(path, tokenizer).words
    # Word pieces are no words.
    return [word for word in words if not word.startswith("##")]
