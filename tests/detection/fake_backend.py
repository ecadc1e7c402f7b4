"""A network that needs no training: fixed embeddings of token ids, three classes with tokens of their own."""

from types import SimpleNamespace

import numpy as np

from masker.config import build_settings
from masker.documents.encoding import Encoded
from masker.inference.outputs import Outputs

#: What stand-ins ask a tokenizer for.
TOKENIZER = SimpleNamespace(all_special_ids=[0, 1, 2, 3, 4], pad_token_id=0, mask_token_id=3, unk_token_id=4)
_FILLER, _OF_CLASS, _FOREIGN = np.arange(5, 10), np.arange(10, 40).reshape(3, 10), np.arange(40, 50)


class FakeBackend:
    """Logits count the tokens of each class; features are means of random embeddings, those of foreign tokens large."""

    n_outputs = 3

    def __init__(self):
        draw = np.random.default_rng(0)
        size = np.where(np.arange(50) < _FOREIGN[0], 1.0, 9.0)[:, None]
        self._tables = {kind: size * draw.normal(size=(50, 8)) for kind in ("cls", "middle", "vectors")}

    def predict_logits(self, encoded, advance=None):
        counts = [[np.isin(ids, tokens).sum() for tokens in _OF_CLASS] for ids in encoded.input_ids]
        return np.array(counts, dtype=np.float32) - 1.5

    def predict_outputs(self, encoded, kinds=("cls",), advance=None):
        features = {
            kind: np.array([self._tables[kind][ids].mean(axis=0) for ids in encoded.input_ids], dtype=np.float32)
            for kind in kinds
        }
        return Outputs(self.predict_logits(encoded), features)

    def weights(self):
        return None


def documents(count: int, seed: int, *, strange: bool = False) -> Encoded:
    """Documents of three tokens of their class, or of one token of each class and three foreign ones, among filler."""
    draw = np.random.default_rng(seed)
    labels = np.arange(count) % 3
    rows = []
    for label in labels:
        own = draw.choice(_OF_CLASS[label], 3)
        if strange:
            own = np.array([*(draw.choice(tokens) for tokens in _OF_CLASS), *draw.choice(_FOREIGN, 3)])
        words = draw.permutation(np.concatenate([own, draw.choice(_FILLER, draw.integers(2, 7))]))
        rows.append(np.array([1, *words, 2], dtype=np.int64))
    return Encoded(rows, None, labels, np.arange(count))


def settings(score="auto", method="vanilla", head=None, **detection):
    """Settings with any score, whether it is registered at this moment or not."""
    base = build_settings({"training": {"method": method}, "model": {"head": head}, "detection": detection})
    return base.model_copy(update={"detection": base.detection.model_copy(update={"score": score})})
