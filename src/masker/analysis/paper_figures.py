"""The paper's figures as numbers: keyword rates across classes, embeddings in the plane, most attended words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.analysis.plane import place_in_plane, silhouette
from masker.documents import Documents
from masker.documents.encoding import Encoded, encode
from masker.errors import ConfigError
from masker.inference.torch_backend import TorchBackend
from masker.keywords.attention import AttentionScores
from masker.keywords.choice import candidate_count, excluded_tokens, token_word, top_tokens
from masker.keywords.rates import keyword_rates
from masker.keywords.scheme import Evidence
from masker.labels import class_indices
from masker.model import Model
from masker.registry import KEYWORD_SCHEMES, METHODS
from masker.training.keyword_stage import attention_scores_of, content_token_counts


@dataclass(frozen=True)
class Subject:
    """A trained model, its training documents, and other documents by name."""

    model: Model
    train: Documents
    sets: dict[str, Documents]

    def encode(self, documents: Documents) -> Encoded:
        return encode(self.model.tokenizer, documents.texts, documents.pairs, self.model.max_length)

    @property
    def has_attention(self) -> bool:
        """Whether the model has a document token whose attention can be read."""
        method = METHODS.get(self.model.settings.training.method)
        return method.attention and isinstance(self.model.backend, TorchBackend)

    def evidence(self) -> Evidence:
        """What keyword schemes may look at: the training documents, and the model's attention to them."""
        train = self.train
        classes = train.class_names or [""]
        labels = np.zeros(len(train), np.int64)
        if train.class_names:
            labels = class_indices(train.labels or [], classes)
        encoded = self.encode(train)
        return Evidence(
            lambda: content_token_counts(self.model.tokenizer, encoded, labels, len(classes)),
            lambda: self.read_attention(encoded, labels, len(classes)),
            self.model.settings.training.seed,
        )

    def read_attention(self, encoded: Encoded, labels: npt.NDArray[np.int64], n_classes: int) -> AttentionScores:
        """The sums of Eq. 2 by class; a model without a document token has no attention to read."""
        method, backend = self.model.settings.training.method, self.model.backend
        if not self.has_attention or not isinstance(backend, TorchBackend):
            raise ConfigError(f"this analysis reads attention, and a model of method {method} has none; use vanilla")
        return attention_scores_of(backend.classifier, self.model.tokenizer, encoded, labels, n_classes)


def class_keyword_rates(
    subject: Subject,
    *,
    per_class: int = 10,
    exclude_stop_words: bool = True,
    exclude_punctuation: bool = True,
    scheme: str = "attention",
) -> dict[str, Any]:
    """How often the keywords of each training class occur in the documents of each class of other sets.

    The keywords of a class are the tokens with the highest attention score (Eq. 2) over the documents of that class, or
    with the highest frequency score (Eq. 1) for it. Stop words are excluded: they are attended to in every class and
    would hide what the figure is about. A rate is the share of a class's tokens that are keywords, in percent.

    Returns:
        ``keywords`` by class, and ``rates``: source class -> "set: target class" -> percent.
    """
    tokenizer, classes = subject.model.tokenizer, subject.train.class_names
    scores = KEYWORD_SCHEMES.get(scheme).class_scores(subject.evidence())
    excluded = excluded_tokens(tokenizer, stop_words=exclude_stop_words, punctuation=exclude_punctuation)
    chosen = {
        name: top_tokens(row, min(per_class, candidate_count(row, excluded)), excluded)
        for name, row in zip(classes, scores, strict=True)
    }
    rates: dict[str, dict[str, float]] = {name: {} for name in classes}
    for set_name, documents in subject.sets.items():
        targets = documents.class_names
        labels = class_indices(documents.labels or [], targets)
        counts = content_token_counts(tokenizer, subject.encode(documents), labels, len(targets))
        for source, row in keyword_rates(counts, [f"{set_name}: {target}" for target in targets], chosen).items():
            rates[source] |= row
    words = {name: [token_word(tokenizer, token) for token in tokens] for name, tokens in chosen.items()}
    return {"keywords": words, "rates": rates}


def embed_in_plane(subject: Subject, *, perplexity: float = 30.0, seed: int = 0) -> dict[str, Any]:
    """t-SNE of the document embeddings of two sets: ``points`` (set -> [x, y] of each document) and ``silhouette``."""
    sets = subject.sets
    if len(sets) != 2:
        raise ConfigError(f"the analysis 'tsne' needs two sets of documents; the recipe names {len(sets)}")
    encoded = (subject.encode(documents) for documents in sets.values())
    parts = [subject.model.backend.predict_outputs(rows).features["cls"] for rows in encoded]
    features = np.concatenate(parts).astype(np.float64)
    of_set = np.repeat([0, 1], [len(part) for part in parts])
    plane = place_in_plane(features, perplexity=perplexity, seed=seed)
    points = {name: np.round(plane[of_set == place], 2).tolist() for place, name in enumerate(sets)}
    return {"points": points, "silhouette": silhouette(features, of_set)}


def attended_words(
    subject: Subject,
    *,
    count: int = 10,
    minimum_documents: int = 2,
    exclude_stop_words: bool = False,
    exclude_punctuation: bool = True,
) -> dict[str, Any]:
    """The words of each set that the document embedding attends to most.

    Eq. 2 is a ``sum`` over documents, so frequent words lead its ranking. The paper's figure shows rare words, so the
    ``mean`` over the documents with the word is given as well, for words that occur in at least ``minimum_documents``.
    """
    tokenizer = subject.model.tokenizer
    excluded = excluded_tokens(tokenizer, stop_words=exclude_stop_words, punctuation=exclude_punctuation)
    found: dict[str, Any] = {}
    for name, documents in subject.sets.items():
        encoded = subject.encode(documents)
        total = subject.read_attention(encoded, np.zeros(len(encoded), np.int64), 1).attention_scores()
        having = np.zeros(len(tokenizer), dtype=np.int64)
        for ids in encoded.input_ids:
            having[np.unique(ids)] += 1
        mean = np.where(having >= minimum_documents, total / np.maximum(having, 1), -np.inf)
        found[name] = {
            kind: [
                {"word": token_word(tokenizer, token), "score": round(float(scores[token]), 4)}
                for token in top_tokens(scores, min(count, candidate_count(scores, excluded)), excluded)
            ]
            for kind, scores in (("sum", total), ("mean", mean))
        }
    return {"words": found}
