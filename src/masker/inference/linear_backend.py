"""Documents as fixed vectors, TF-IDF or the means of a frozen encoder, and a linear classifier on them.

This is what a one-class SVM looks at. A detector alone has no labels to give, so a logistic regression on the same
vectors names the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from masker.documents.encoding import Encoded
from masker.inference.backend import Floats, Outputs, Weights
from masker.inference.batching import Advance, content_special_ids, predict_means
from masker.inference.tf_idf import inverse_document_frequency, tf_idf, token_counts
from masker.masking.collator import Collator

#: The kind of features that a one-class SVM reads.
VECTORS = "vectors"


class Features(Protocol):
    """Turns rows of token ids into vectors."""

    def __call__(self, encoded: Encoded, advance: Advance | None = None) -> Any:
        """(N, F) vectors of length 1, dense or sparse."""

    def weights(self) -> Weights | None:
        """What has to be saved; ``None`` when the full weights are not here."""


class TfIdfFeatures:
    """Sparse TF-IDF vectors over the tokenizer's vocabulary.

    Args:
        idf: (V,) factors of the training documents.
        config: The backbone's configuration, saved for the tokenizer's sake.
    """

    def __init__(self, idf: npt.NDArray[np.float64], config: Any) -> None:
        self.idf = idf
        self._config = config

    @classmethod
    def fit(cls, documents: Sequence[npt.NDArray[np.int64]], vocabulary_size: int, config: Any) -> TfIdfFeatures:
        """Count the training documents."""
        return cls(inverse_document_frequency(token_counts(documents, vocabulary_size)), config)

    def __call__(self, encoded: Encoded, advance: Advance | None = None) -> Any:
        """(N, V) sparse vectors."""
        if advance is not None:
            advance(len(encoded))
        return tf_idf(token_counts(encoded.input_ids, len(self.idf)), self.idf)

    def weights(self) -> Weights:
        """The factors."""
        return Weights(self._config, {"features.idf": torch.from_numpy(self.idf)})


class EncoderFeatures:
    """Means of the last hidden states of a pre-trained encoder that is not trained further.

    Args:
        encoder: An encoder of transformers.
        tokenizer: Its tokenizer.
    """

    def __init__(self, encoder: Any, tokenizer: Any) -> None:
        self._encoder = encoder
        self._collator = Collator(tokenizer.pad_token_id, sorted(content_special_ids(tokenizer)))

    def __call__(self, encoded: Encoded, advance: Advance | None = None) -> Any:
        """(N, H) vectors."""
        return predict_means(self._encoder, self._collator, encoded, advance)

    def weights(self) -> Weights | None:
        """The encoder, unless it was rounded to bfloat16."""
        return Weights(self._encoder) if self._encoder.dtype == torch.float32 else None


class LinearScorer:
    """A linear classifier on fixed vectors, in the form of a :class:`masker.inference.backend.Scorer`.

    Args:
        features: Makes the vectors.
        weight: (C, F).
        bias: (C,).
    """

    def __init__(self, features: Features, weight: npt.NDArray[np.float64], bias: npt.NDArray[np.float64]) -> None:
        self._features = features
        self._weight, self._bias = weight, bias

    @classmethod
    def fit(
        cls,
        features: Features,
        vectors: Any,
        labels: npt.NDArray[np.int64],
        *,
        balanced: bool = False,
    ) -> LinearScorer:
        """Logistic regression, multinomial, with scikit-learn's own strength of regularisation."""
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(max_iter=1000, class_weight="balanced" if balanced else None).fit(vectors, labels)
        weight, bias = np.atleast_2d(model.coef_), model.intercept_
        if len(model.classes_) == 2:
            # One logit z for two classes: softmax(-z/2, z/2) says the same, and the highest logit is high for both.
            weight, bias = np.concatenate([-weight, weight]) / 2.0, np.array([-bias[0], bias[0]]) / 2.0
        return cls(features, weight.astype(np.float64), bias.astype(np.float64))

    @property
    def n_outputs(self) -> int:
        """C."""
        return len(self._bias)

    def predict_logits(self, encoded: Encoded, advance: Advance | None = None) -> Floats:
        """(N, C) logits."""
        return self.predict_outputs(encoded, advance=advance).logits

    def predict_outputs(
        self, encoded: Encoded, kinds: Sequence[str] = (VECTORS,), advance: Advance | None = None
    ) -> Outputs:
        """(N, C) logits and the (N, F) vectors, the one kind there is."""
        vectors = self._features(encoded, advance)
        return Outputs(self.logits(vectors), {VECTORS: vectors})

    def logits(self, vectors: Any) -> Floats:
        """(N, C) logits of (N, F) vectors."""
        return np.asarray(vectors @ self._weight.T + self._bias, dtype=np.float32)

    def weights(self) -> Weights | None:
        """The linear layer and what its vectors need."""
        below = self._features.weights()
        if below is None:
            return None
        linear = {"linear.weight": torch.from_numpy(self._weight), "linear.bias": torch.from_numpy(self._bias)}
        return Weights(below.native, {**below.tensors, **linear})
