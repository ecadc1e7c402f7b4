"""Documents as fixed vectors, TF-IDF or states of a frozen encoder, and a logistic regression on them.

The method ``linear`` is this alone. A one-class SVM reads the same vectors; it has no labels to offer, so the
regression names the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_array

from masker.documents.encoding import Encoded
from masker.inference.backend import Floats, Weights
from masker.inference.batching import Advance
from masker.inference.outputs import Outputs
from masker.inference.packed_linear import pack_linears
from masker.inference.torch_backend import encoder_vectors
from masker.modeling.devices import resolve_device

#: The kind of features that a linear backend offers.
VECTORS = "vectors"
#: A tensor of the model folder that says that the first token is read.
_FIRST = "features.first_token"


class Vectorizer(Protocol):
    """Turns rows of token ids into vectors."""

    def __call__(self, encoded: Encoded, advance: Advance | None = None) -> Any:
        """(N, F) vectors of length 1, dense or sparse."""

    def weights(self) -> Weights | None:
        """What to save; ``None`` if the full weights are not here."""


class TfIdfVectorizer:
    r"""Sparse TF-IDF vectors over the tokenizer's vocabulary: scikit-learn's ``TfidfTransformer(sublinear_tf=True)``.

    .. math::
        x_t = (1 + \ln n_t) \Bigl(1 + \ln \frac{1 + N}{1 + N_t}\Bigr), \qquad x \leftarrow x / \lVert x \rVert_2

    for a token t with :math:`n_t > 0` occurrences in the document that :math:`N_t` of N training documents contain.
    Tokens are the backbone's, so every system reads the same part of a document. Special tokens count as tokens: no
    vector is zero, and a text of unseen tokens is far from all others.

    Args:
        idf: (V,) inverse document frequencies of the training documents.
        config: The backbone's configuration, which a tokenizer needs to be opened again.
    """

    def __init__(self, idf: npt.NDArray[np.float64], config: Any) -> None:
        from sklearn.feature_extraction.text import TfidfTransformer

        self._config = config
        self._transformer = TfidfTransformer(sublinear_tf=True)
        self._transformer.idf_ = idf

    @classmethod
    def fit(cls, encoded: Encoded, vocabulary_size: int, config: Any) -> TfIdfVectorizer:
        """Count the training documents."""
        from sklearn.feature_extraction.text import TfidfTransformer

        return cls(TfidfTransformer(sublinear_tf=True).fit(token_counts(encoded, vocabulary_size)).idf_, config)

    def __call__(self, encoded: Encoded, advance: Advance | None = None) -> Any:
        if advance is not None:
            advance(len(encoded))
        return csr_array(self._transformer.transform(token_counts(encoded, len(self._transformer.idf_))))

    def weights(self) -> Weights:
        return Weights(self._config, {"features.idf": np.asarray(self._transformer.idf_)})


class EncoderVectorizer:
    """Mean hidden states of a pre-trained encoder that is not trained further.

    Args:
        encoder: An encoder of transformers, on the device to run on.
        tokenizer: Its tokenizer.
        first: Read the state of the first token instead, for an encoder that was trained for it.
    """

    def __init__(self, encoder: Any, tokenizer: Any, *, first: bool = False) -> None:
        self._encoder, self._tokenizer, self._first = encoder, tokenizer, first

    def __call__(self, encoded: Encoded, advance: Advance | None = None) -> Any:
        return encoder_vectors(self._encoder, self._tokenizer, encoded, advance, first=self._first)

    def weights(self) -> Weights | None:
        if self._encoder.dtype != torch.float32:
            return None
        return Weights(self._encoder, {_FIRST: np.ones(1)} if self._first else {})


class LinearBackend:
    """A linear classifier on fixed vectors.

    Args:
        vectorizer: Makes the vectors.
        weight: (C, F).
        bias: (C,).
    """

    def __init__(self, vectorizer: Vectorizer, weight: npt.NDArray[np.float64], bias: npt.NDArray[np.float64]) -> None:
        self._vectorizer = vectorizer
        self._weight, self._bias = weight, bias

    def moved_towards(self, other: LinearBackend, share: float) -> LinearBackend:
        """The classifier between this one and another on the same vectors: at 0 this, at 1 the other."""
        weight = (1.0 - share) * self._weight + share * other._weight
        return LinearBackend(self._vectorizer, weight, (1.0 - share) * self._bias + share * other._bias)

    @property
    def n_outputs(self) -> int:
        return len(self._bias)

    def predict_logits(self, encoded: Encoded, advance: Advance | None = None) -> Floats:
        return self.predict_outputs(encoded, advance=advance).logits

    def predict_outputs(
        self, encoded: Encoded, kinds: Sequence[str] = (VECTORS,), advance: Advance | None = None
    ) -> Outputs:
        return self.outputs_of(self._vectorizer(encoded, advance))

    def outputs_of(self, vectors: Any) -> Outputs:
        """Logits and features of (N, F) vectors."""
        return Outputs(np.asarray(vectors @ self._weight.T + self._bias, dtype=np.float32), {VECTORS: vectors})

    def weights(self) -> Weights | None:
        below = self._vectorizer.weights()
        if below is None:
            return None
        linear = {"linear.weight": self._weight, "linear.bias": self._bias}
        return Weights(below.native, {**below.tensors, **linear})


def token_counts(encoded: Encoded, vocabulary_size: int) -> Any:
    """(N, V) sparse counts of token ids."""
    tokens = np.concatenate(encoded.input_ids) if len(encoded) else np.empty(0, dtype=np.int64)
    rows = np.repeat(np.arange(len(encoded), dtype=np.int32), encoded.lengths)
    # scikit-learn takes sparse rows with 32-bit indices only.
    counts = csr_array((np.ones(len(tokens)), (rows, tokens.astype(np.int32))), shape=(len(encoded), vocabulary_size))
    counts.sum_duplicates()
    return counts


def open_linear_backend(
    folder: Path,
    tokenizer: Any,
    tensors: dict[str, npt.NDArray[Any]],
    backend: str | None = None,
    device: str = "auto",
) -> LinearBackend:
    """Open the linear classifier of a model folder."""
    from masker.modeling.backbone import check_vocabulary, load_encoder

    vectorizer: Vectorizer
    if "features.idf" not in tensors:
        encoder = load_encoder(str(folder)).to(resolve_device(device))
        check_vocabulary(folder, tokenizer, encoder.get_input_embeddings().num_embeddings)
        if backend == "torch-bf16":
            encoder = encoder.bfloat16()
            pack_linears(encoder)
        vectorizer = EncoderVectorizer(encoder, tokenizer, first=_FIRST in tensors)
    else:
        from transformers import AutoConfig

        check_vocabulary(folder, tokenizer, len(tensors["features.idf"]))
        vectorizer = TfIdfVectorizer(tensors["features.idf"], AutoConfig.from_pretrained(str(folder)))
    return LinearBackend(vectorizer, tensors["linear.weight"], tensors["linear.bias"])
