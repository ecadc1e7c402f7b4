"""Choosing the keywords of an audit: words whose part in a model's answers is to be measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from masker.audit.answers import AnsweredDocuments, occlude
from masker.audit.model import AuditedModel
from masker.audit.occlusion import association, candidate_words, document_counts, occlusion_scores
from masker.audit.words import Ids, Vocabulary, word_spans
from masker.config import AuditSettings
from masker.errors import ConfigError, DataError
from masker.inference.batching import content_special_ids, visit_attention
from masker.keywords import KeywordSet
from masker.keywords.attention import AttentionScores
from masker.keywords.frequency import class_frequency_scores, class_token_counts
from masker.keywords.keyword_files import read_keywords
from masker.masking.collator import Collator, pad_rows
from masker.modeling.convolution import MODEL_TYPE
from masker.modeling.model_folder import load_manifest
from masker.progress import progress_bar

Floats = npt.NDArray[np.float64]
#: Ways to find keywords in documents; anything else is a file or a model folder.
SCHEMES = ("occlusion", "attention", "frequency")


@dataclass(frozen=True)
class ChosenKeywords:
    """Keywords and the class that each belongs to.

    Attributes:
        words: (K,) vocabulary numbers, those of a class together, best first.
        classes: (K,) the class of each.
        scores: (K,) what the scheme gave them.
    """

    words: Ids
    classes: Ids
    scores: Floats

    def of_class(self, label: int) -> list[int]:
        """The words of a class."""
        return [int(word) for word in self.words[self.classes == label]]


def find_keywords(
    model: AuditedModel, answered: AnsweredDocuments, vocabulary: Vocabulary, settings: AuditSettings
) -> ChosenKeywords:
    """The keywords of each class by the scheme that the settings name."""
    if settings.keywords == "frequency":
        scores = frequency_keyword_scores(answered, len(vocabulary))
    elif settings.keywords == "attention":
        scores = attention_keyword_scores(model, answered, vocabulary)
    else:
        scores = occlusion_keyword_scores(model, answered, len(vocabulary), settings)
    counts = document_counts(answered.words.words, answered.predicted, answered.n_classes, len(vocabulary))
    scores[:, counts.sum(axis=0) < settings.minimum_documents] = -np.inf
    return best_of_each_class(scores, settings.per_class)


def occlusion_keyword_scores(
    model: AuditedModel, answered: AnsweredDocuments, vocabulary_size: int, settings: AuditSettings
) -> Floats:
    """(C, V) occlusion scores; see :mod:`masker.audit.occlusion`."""
    predicted, n_classes = answered.predicted, answered.n_classes
    counts = document_counts(answered.words.words, predicted, n_classes, vocabulary_size)
    wanted = candidate_words(
        counts,
        np.bincount(predicted, minlength=n_classes),
        settings.per_class * settings.candidates_per_keyword,
        settings.minimum_documents,
    )
    found = occlude(model, answered, wanted, "keywords")
    return occlusion_scores(predicted[found.rows], found.words, found.drops, n_classes, vocabulary_size)


def attention_keyword_scores(model: AuditedModel, answered: AnsweredDocuments, vocabulary: Vocabulary) -> Floats:
    """(C, V) Eq. 2 by the class that the model gives, with the tokens of a word counted as the word.

    Stop words are left out: a model attends to them in every class.

    Raises:
        ConfigError: When the model has no document token that attends to the words.
    """
    if model.tokenizer.mask_token_id is None or model.classifier.config.model_type == MODEL_TYPE:
        raise ConfigError(f"keywords must be occlusion, frequency or a file for '{model.name}', which is no encoder "
                          "with a document token whose attention could be read; got 'attention'")  # fmt: skip
    scores = AttentionScores(answered.n_classes, len(vocabulary))
    class_of = torch.from_numpy(answered.predicted)
    # Tokens of no word have a negative place; a text may have no word at all.
    numbers = [
        np.where(of_token >= 0, np.append(words, [-1, -1])[of_token], -1)
        for words, of_token in zip(answered.words.words, answered.words.word_of_token, strict=True)
    ]

    def visit(token_ids: torch.Tensor, attention: torch.Tensor, content: torch.Tensor, rows: Ids) -> None:
        words = torch.from_numpy(pad_rows([numbers[row] for row in rows], -1)[0])
        scores.update(words.clamp_min(0), attention, words >= 0, class_of[rows])

    collator = Collator(model.tokenizer.pad_token_id, sorted(content_special_ids(model.tokenizer)))
    with progress_bar(len(answered), "keywords", "doc") as bar:
        visit_attention(model.classifier, collator, answered.words.encoded, visit, bar.update)
    found = scores.class_attention_scores()
    found[:, vocabulary.stop_words()] = -np.inf
    return found


def frequency_keyword_scores(answered: AnsweredDocuments, vocabulary_size: int) -> Floats:
    """(C, V) Eq. 1 over words and the labels of the data."""
    pairs = ((words, int(label)) for words, label in zip(answered.words.words, answered.gold, strict=True))
    counts = class_token_counts(pairs, answered.n_classes, vocabulary_size)
    return np.where(counts > 0, class_frequency_scores(counts), -np.inf)


def best_of_each_class(scores: Floats, per_class: int) -> ChosenKeywords:
    """The words with the highest (C, V) scores above 0; a word belongs to the class with its highest score."""
    owner = scores.argmax(axis=0)
    words: list[int] = []
    for label, row in enumerate(scores):
        own = np.where((owner == label) & (row > 0), row, -np.inf)
        words += [int(word) for word in np.argsort(-own, kind="stable")[:per_class] if np.isfinite(own[word])]
    chosen = np.array(words, dtype=np.int64)
    return ChosenKeywords(chosen, owner[chosen], scores[owner[chosen], chosen])


def given_words(source: str, tokenizer: Any) -> list[str]:
    """The words of a file or of a model folder, in lower case.

    Raises:
        ConfigError: When the source cannot be read, or an entry is more than one word.
    """
    words = []
    for entry in _entries(source, tokenizer):
        spelled = [word for word, _, _ in word_spans(entry)]
        if len(spelled) > 1:
            raise ConfigError(f"keywords of an audit must be single words; got '{entry}' in '{source}', so split it up")
        words += spelled
    return words


def given_keywords(words: Sequence[str], answered: AnsweredDocuments, vocabulary: Vocabulary) -> ChosenKeywords:
    """Those of the words that documents have; each goes to the class whose documents have it most, by association.

    Raises:
        DataError: When no document has any of them.
    """
    found = (vocabulary.find(word) for word in words)
    numbers = list(dict.fromkeys(number for number in found if number is not None))
    if not numbers:
        raise DataError(f"no document has any of the {len(words)} keywords within the length that the model reads")
    counts = document_counts(answered.words.words, answered.predicted, answered.n_classes, len(vocabulary))
    strength = association(counts, np.bincount(answered.predicted, minlength=answered.n_classes))[:, numbers]
    owner = strength.argmax(axis=0)
    order = np.lexsort((-strength.max(axis=0), owner))
    return ChosenKeywords(np.array(numbers, dtype=np.int64)[order], owner[order], strength.max(axis=0)[order])


def _entries(source: str, tokenizer: Any) -> list[str]:
    path = Path(source).expanduser()
    if not path.exists():
        raise ConfigError(
            f"keywords must be {', '.join(SCHEMES)}, a file of words or a model folder; there is no '{source}'"
        )
    if path.is_dir():
        stored = load_manifest(path).manifest.get("keywords")
        if stored is None:
            raise ConfigError(f"model '{source}' was trained without keywords; give another --keywords")
        words = KeywordSet.from_json(stored).words
    else:
        words = read_keywords(path, tokenizer).words
    # Pieces of words are no words.
    return [word for word in words if not word.startswith("##")]
