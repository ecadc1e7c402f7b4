"""The paper's figures as numbers: keyword rates across classes, embeddings in the plane, attended words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.documents import Documents
from masker.documents.encoding import Encoded, encode
from masker.errors import ConfigError
from masker.inference.backend import TorchScorer
from masker.keywords.choice import excluded_tokens, token_word, top_tokens
from masker.keywords.frequency import class_token_counts
from masker.keywords.rates import keyword_rates
from masker.modeling.backbone import load_classifier, load_tokenizer
from masker.modeling.tokens import content_special_ids
from masker.training.keyword_stage import attention_keyword_scores


def class_keyword_rates(
    model: Path,
    max_length: int,
    train: Documents,
    sets: dict[str, Documents],
    *,
    per_class: int = 10,
    exclude_stop_words: bool = True,
    exclude_punctuation: bool = True,
) -> dict[str, Any]:
    """How often the keywords of each training class stand in the documents of each class of other sets.

    The keywords of a class are the tokens with the highest attention score (Eq. 2) over the documents of that class.
    Stop words are left out, as they are attended to in every class and would hide what the figure is about. A rate is
    the share of a class's tokens that are keywords, in percent.

    Returns:
        ``keywords`` by class, and ``rates``: source class -> "set: target class" -> percent.
    """
    tokenizer, classifier = load_tokenizer(str(model)), load_classifier(str(model))
    classes = train.class_names
    encoded, labels = _encode(tokenizer, train, max_length), _class_indices(train, classes)
    scores = attention_keyword_scores(classifier, tokenizer, encoded, labels, len(classes), class_balanced=True)
    excluded = excluded_tokens(tokenizer, stop_words=exclude_stop_words, punctuation=exclude_punctuation)
    chosen = {name: top_tokens(row, per_class, excluded) for name, row in zip(classes, scores, strict=True)}
    rates: dict[str, dict[str, float]] = {name: {} for name in classes}
    for set_name, documents in sets.items():
        targets = documents.class_names
        counts = _content_counts(tokenizer, documents, targets, max_length)
        for source, row in keyword_rates(counts, [f"{set_name}: {target}" for target in targets], chosen).items():
            rates[source] |= row
    words = {name: [token_word(tokenizer, token) for token in tokens] for name, tokens in chosen.items()}
    return {"keywords": words, "rates": rates}


def embed_in_plane(
    model: Path,
    max_length: int,
    train: Documents,
    sets: dict[str, Documents],
    *,
    perplexity: float = 30.0,
    seed: int = 0,
) -> dict[str, Any]:
    """t-SNE of the document embeddings of two sets.

    Pictures of t-SNE can mislead, so the silhouette of the two sets in the space of the embeddings is given beside the
    points: near 1 they lie apart, near 0 they lie among each other.

    Returns:
        ``points``: set -> [x, y] of each document; ``silhouette``.
    """
    from sklearn.manifold import TSNE
    from sklearn.metrics import silhouette_score

    if len(sets) != 2:
        raise ConfigError(f"the analysis 'tsne' draws two sets of documents; the recipe names {len(sets)}")
    tokenizer = load_tokenizer(str(model))
    scorer = TorchScorer(load_classifier(str(model)), tokenizer)
    parts = [
        scorer.predict_outputs(_encode(tokenizer, documents, max_length)).features["cls"] for documents in sets.values()
    ]
    features = np.concatenate(parts).astype(np.float64)
    of_set = np.repeat([0, 1], [len(part) for part in parts])
    fitting = min(perplexity, (len(features) - 1) / 3)
    plane = TSNE(2, perplexity=fitting, init="pca", random_state=seed).fit_transform(features)
    points = {name: np.round(plane[of_set == place].astype(np.float64), 2).tolist() for place, name in enumerate(sets)}
    return {"points": points, "silhouette": round(float(silhouette_score(features, of_set)), 4)}


def attended_words(
    model: Path,
    max_length: int,
    train: Documents,
    sets: dict[str, Documents],
    *,
    count: int = 10,
    minimum_documents: int = 2,
    exclude_stop_words: bool = False,
    exclude_punctuation: bool = True,
) -> dict[str, Any]:
    """The words of each set that the document embedding attends to most.

    Eq. 2 sums over documents, so frequent words lead its ranking. The paper's figure shows rare words, so the mean over
    the documents that have the word is given too, for words that at least ``minimum_documents`` have.

    Returns:
        set -> ``sum`` and ``mean``, each a list of words with scores.
    """
    tokenizer, classifier = load_tokenizer(str(model)), load_classifier(str(model))
    excluded = excluded_tokens(tokenizer, stop_words=exclude_stop_words, punctuation=exclude_punctuation)
    found: dict[str, Any] = {}
    for name, documents in sets.items():
        encoded = _encode(tokenizer, documents, max_length)
        total = attention_keyword_scores(classifier, tokenizer, encoded, np.zeros(len(encoded), np.int64), 1)
        having = np.zeros(len(tokenizer), dtype=np.int64)
        for ids in encoded.input_ids:
            having[np.unique(ids)] += 1
        mean = np.where(having >= minimum_documents, total / np.maximum(having, 1), -np.inf)
        found[name] = {
            kind: [
                {"word": token_word(tokenizer, token), "score": round(float(scores[token]), 4)}
                for token in top_tokens(scores, count, excluded)
            ]
            for kind, scores in (("sum", total), ("mean", mean))
        }
    return {"words": found}


def _encode(tokenizer: Any, documents: Documents, max_length: int) -> Encoded:
    return encode(tokenizer, documents.texts, documents.pairs, max_length)


def _class_indices(documents: Documents, classes: list[str]) -> npt.NDArray[np.int64]:
    index = {name: place for place, name in enumerate(classes)}
    return np.array([index[str(label)] for label in documents.labels or []], dtype=np.int64)


def _content_counts(tokenizer: Any, documents: Documents, classes: list[str], max_length: int) -> npt.NDArray[np.int64]:
    """(C, V) tokens of each class, without special ones."""
    encoded, labels = _encode(tokenizer, documents, max_length), _class_indices(documents, classes)
    pairs = ((ids, int(label)) for ids, label in zip(encoded.input_ids, labels, strict=True))
    counts = class_token_counts(pairs, len(classes), len(tokenizer))
    counts[:, sorted(content_special_ids(tokenizer))] = 0
    return counts
