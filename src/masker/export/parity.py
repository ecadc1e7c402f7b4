"""The distance of a graph's outputs from PyTorch's, on documents of random tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.documents.encoding import Encoded
from masker.inference.backend import Backend
from masker.inference.onnx_backend import OnnxBackend
from masker.inference.torch_backend import TorchBackend

#: Largest allowed difference of a logit from PyTorch's.
TOLERANCE = 1e-4
#: Documents that parity is measured on, in batches of mixed lengths.
PARITY_ROWS, PARITY_BATCH = 32, 8

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Difference:
    """The largest absolute differences of a graph from PyTorch."""

    logits: float
    features: float


class Parity:
    """PyTorch's outputs for a fixed set of documents, to measure graphs against.

    Args:
        classifier: A sequence classifier, on the CPU.
        tokenizer: Its tokenizer.
        max_length: Tokens of the longest document.
        kinds: Features to compare besides the logits.
    """

    def __init__(self, classifier: Any, tokenizer: Any, max_length: int, kinds: Sequence[str]) -> None:
        self.batches = random_batches(tokenizer, classifier, max_length)
        self._kinds = list(kinds)
        self._pad_id = tokenizer.pad_token_id
        # Whole batches, so that short rows are padded to the longest.
        self._max_tokens = max_length * PARITY_BATCH
        self._logits, self._features = self._outputs(TorchBackend(classifier, tokenizer, "cpu"))

    def difference(self, file: Path) -> Difference:
        """The distance of the graph in ``file``."""
        logits, features = self._outputs(OnnxBackend(file, self._pad_id, max_tokens=self._max_tokens))
        return Difference(float(np.abs(logits - self._logits).max()), float(np.abs(features - self._features).max()))

    def is_close(self, difference: Difference) -> bool:
        """Whether logits are within the tolerance, and features within it relative to the largest of them."""
        scale = max(1.0, float(np.abs(self._features).max()))
        return difference.logits <= TOLERANCE and difference.features <= TOLERANCE * scale

    def _outputs(self, network: Backend) -> tuple[Floats, Floats]:
        """Logits, and features of all kinds side by side, of all documents."""
        parts = [network.predict_outputs(batch, self._kinds) for batch in self.batches]
        features = [np.concatenate([part.features[kind] for kind in self._kinds], axis=1) for part in parts]
        return np.concatenate([part.logits for part in parts]), np.concatenate(features)


def random_batches(tokenizer: Any, classifier: Any, max_length: int) -> list[Encoded]:
    """Documents of random token ids, from very short to ``max_length``, in batches that need padding."""
    draw = np.random.default_rng(0)
    allowed = np.setdiff1d(np.arange(min(len(tokenizer), classifier.config.vocab_size)), [tokenizer.pad_token_id])
    lengths = draw.permutation(np.linspace(min(3, max_length), max_length, PARITY_ROWS).astype(int))
    ids = [draw.choice(allowed, size=length) for length in lengths]
    n_types = max(1, getattr(classifier.config, "type_vocab_size", 0) or 0)
    types = [np.sort(draw.integers(0, min(2, n_types), size=length)) for length in lengths]
    has_types = "token_type_ids" in tokenizer.model_input_names
    rows = Encoded(ids, types if has_types else None, None, np.arange(PARITY_ROWS))
    return [rows.take(range(at, at + PARITY_BATCH)) for at in range(0, PARITY_ROWS, PARITY_BATCH)]
